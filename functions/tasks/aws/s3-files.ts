import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { GetObjectCommand, HeadObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { type ClientOptions, clientConfig, quiet } from './client.ts';

export interface FileObject {
  readonly key: string;
  readonly type: string;
  /** Content-Disposition. */
  readonly disposition: string;
  readonly body: Readable;
}

export interface FileUploads {
  /** Stores a file in parts, under a new key. It is there once all of it is. */
  upload(file: FileObject, signal: AbortSignal): Promise<void>;
}

/** A signature holds for one method. */
export type FileMethod = 'GET' | 'HEAD';

export interface FileReads {
  /** A URL to read it by this method, for so many seconds. */
  presign(key: string, seconds: number, method: FileMethod): Promise<string>;
  /** All of it, if it has at most so many bytes. */
  read(key: string, most: number): Promise<{ bytes: Uint8Array; type: string } | 'too large'>;
}

/** Bytes of a part: the least that S3 takes, so that little lies in memory. The largest file has 954 of them. */
const PART = 5 * 1024 ** 2;

/**
 * What S3 answers to an attempt after one that stored the file, and whose answer was lost: the key is random, and the upload has no
 * other reason to be over. Only to these commands: a source may throw the same, and so does the end of an upload that has failed.
 */
const STORED_BEFORE: Readonly<Record<string, readonly string[]>> = {
  PutObjectCommand: ['PreconditionFailed'],
  CompleteMultipartUploadCommand: ['PreconditionFailed', 'NoSuchUpload'],
};

/** Repeats of a write that met an earlier attempt of itself, which S3 still works on. The first one waits `pause` ms, each next one twice as long. */
const CONFLICTS = { repeats: 5, pause: 200 };

/** Writes files with the uploader of the AWS SDK. */
export function fileUploads(Bucket: string, options: ClientOptions): FileUploads {
  // S3 checks each part by a CRC32: the uploader says at its beginning that each has one.
  const client = clientOf(options, 'WHEN_SUPPORTED');
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        for (let repeats = 0; ; repeats++) {
          try {
            return await next(args);
          } catch (error) {
            const { name } = error as Error;
            if (STORED_BEFORE[commandName]?.includes(name)) return { response: undefined, output: { $metadata: {} } };
            // The SDK does not repeat after this error. "On a 409 failure you should retry the upload" (API of S3, PutObject). Not so for
            // the end of an upload in parts: "you should re-initiate the multipart upload".
            const mayRepeat = commandName === 'PutObjectCommand' && repeats < CONFLICTS.repeats;
            if (!mayRepeat || name !== 'ConditionalRequestConflict') throw error;
            await sleep(CONFLICTS.pause * 2 ** repeats);
          }
        }
      },
    { step: 'initialize' },
  );
  return {
    async upload({ key: Key, type: ContentType, disposition: ContentDisposition, body: Body }, signal) {
      // The policy of a tool allows no other write.
      const params = { Bucket, Key, Body, ContentType, ContentDisposition, IfNoneMatch: '*' };
      const upload = new Upload({ client, params, partSize: PART, queueSize: 2 });
      const stop = () => void upload.abort();
      signal.addEventListener('abort', stop);
      try {
        await upload.done();
      } finally {
        signal.removeEventListener('abort', stop);
      }
    },
  };
}

/** Reads files, and lets others read them, with the signer of the AWS SDK. */
export function fileReads(Bucket: string, options: ClientOptions): FileReads {
  // Otherwise a presigned URL demands a checksum that no browser sends.
  const client = clientOf(options, 'WHEN_REQUIRED');
  return {
    presign(Key, expiresIn, method) {
      const command =
        method === 'HEAD' ? new HeadObjectCommand({ Bucket, Key }) : new GetObjectCommand({ Bucket, Key });
      return getSignedUrl(client, command, { expiresIn });
    },
    async read(Key, most) {
      const found = await client.send(new GetObjectCommand({ Bucket, Key }));
      const { Body, ContentLength = 0, ContentType: type = '' } = found;
      if (ContentLength <= most) return { bytes: (await Body?.transformToByteArray()) ?? new Uint8Array(), type };
      (Body as Readable | undefined)?.destroy();
      return 'too large';
    },
  };
}

function clientOf(options: ClientOptions, checksums: 'WHEN_SUPPORTED' | 'WHEN_REQUIRED'): S3Client {
  const { AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL } = process.env;
  return quiet(
    new S3Client({
      ...clientConfig(options),
      // An endpoint that is not S3's own serves buckets by path.
      forcePathStyle: (options.endpoint ?? AWS_ENDPOINT_URL_S3 ?? AWS_ENDPOINT_URL) !== undefined,
      requestChecksumCalculation: checksums,
      responseChecksumValidation: 'WHEN_REQUIRED',
    }),
  );
}
