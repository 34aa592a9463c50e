import { GetObjectCommand, type GetObjectCommandOutput, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { type ClientOptions, clientConfig, quiet } from './client.ts';

export interface Objects {
  put(key: string, text: string, abortSignal: AbortSignal): Promise<unknown>;
  get(key: string, abortSignal: AbortSignal): Promise<string>;
}

/** An endpoint that is not S3's own serves buckets by path. */
export function objects(Bucket: string, options: ClientOptions): Objects {
  const { AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL } = process.env;
  const client = quiet(
    new S3Client({
      ...clientConfig(options),
      forcePathStyle: (options.endpoint ?? AWS_ENDPOINT_URL_S3 ?? AWS_ENDPOINT_URL) !== undefined,
      // The server proves each text by a hash of its own.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    }),
  );
  return {
    put(Key, Body, abortSignal) {
      return client.send(new PutObjectCommand({ Bucket, Key, Body, ContentType: 'application/json' }), { abortSignal });
    },
    async get(Key, abortSignal) {
      let text = '';
      const command = new GetObjectCommand({ Bucket, Key });
      // Read here, an answer that breaks off is a failed attempt, which the client tries again.
      const read = { step: 'deserialize', priority: 'high' } as const;
      command.middlewareStack.add(
        (next) => async (args) => {
          const answer = await next(args);
          text = (await (answer.output as GetObjectCommandOutput).Body?.transformToString()) ?? '';
          return answer;
        },
        read,
      );
      await client.send(command, { abortSignal });
      return text;
    },
  };
}
