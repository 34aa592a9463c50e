import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AwsError } from '../aws-error.ts';
import type { BucketResource } from '../template/specs.ts';
import { isPresigned } from '../wire/presigned.ts';
import type { RestService, StreamedRequest, WireResponse } from '../wire/types.ts';
import { type Bucket, openBucket } from './bucket.ts';
import { isExpired } from './lifecycle.ts';
import {
  abortMultipartUpload,
  completeMultipartUpload,
  createMultipartUpload,
  endUpload,
  listMultipartUploads,
  listParts,
  uploadPart,
} from './multipart.ts';
import { type ObjectPath, objectPathOf, operationOf, refuseUnknown } from './operations.ts';
import { getObject } from './read.ts';
import { verifyPresigned } from './signature.ts';
import { putObject } from './write.ts';
import { xmlError } from './xml.ts';

interface S3Options {
  readonly buckets: readonly BucketResource[];
  readonly region: string;
  /** @default a temporary folder, as long as this process lives */
  readonly dataDir?: string | undefined;
  readonly now: () => number;
  /** Milliseconds between two removals of expired objects. */
  readonly sweepMs: number;
  readonly onError: (message: string) => void;
}

type Operation = (
  target: ObjectPath,
  bucket: Bucket,
  request: StreamedRequest,
  now: () => number,
) => WireResponse | Promise<WireResponse>;

const OPERATIONS: Readonly<Record<string, Operation>> = {
  PutObject: putObject,
  GetObject: getObject,
  HeadObject: getObject,
  DeleteObject: deleteObject,
  CreateMultipartUpload: createMultipartUpload,
  UploadPart: uploadPart,
  CompleteMultipartUpload: completeMultipartUpload,
  AbortMultipartUpload: abortMultipartUpload,
  ListParts: listParts,
  ListMultipartUploads: listMultipartUploads,
};

/** The part of S3 that tasks need: objects of the template's buckets, at once or in parts, and their expiry. */
export function createS3({ buckets, region, dataDir, now, sweepMs, onError }: S3Options) {
  const folder = dataDir === undefined ? temporaryFolder(buckets.length > 0) : join(dataDir, 's3');
  const stored = new Map(
    buckets.map((resource) => [resource.name, { resource, ...openBucket(join(folder, resource.name)) }] as const),
  );

  const handle = async (request: StreamedRequest): Promise<WireResponse> => {
    const target = objectPathOf(request);
    const operation = operationOf(request);
    const headers = isPresigned(request.path) ? verifyPresigned(request, region, now()) : request.headers;
    const run = Object.hasOwn(OPERATIONS, operation) ? OPERATIONS[operation] : undefined;
    if (!run) throw new AwsError('NotImplemented', `the embedded cloud does not know ${operation} of S3`, 501);
    refuseUnknown(operation, { ...request, headers });
    const found = stored.get(target.bucket);
    if (found) return run(target, found, { ...request, headers }, now);
    const details = { BucketName: target.bucket };
    throw new AwsError('NoSuchBucket', 'The specified bucket does not exist', 404, details);
  };
  /** Removes expired objects and uploads now. Returns how many. */
  const sweep = (): number => {
    const at = now();
    let removed = 0;
    for (const { resource, objects, uploads } of stored.values()) {
      for (const facts of objects.all().filter((object) => isExpired(object, resource.expirations, at))) {
        objects.remove(facts.key);
        removed++;
      }
      for (const upload of uploads.all()) {
        const begun = { key: upload.key, modifiedAt: upload.initiatedAt };
        if (!isExpired(begun, resource.uploadExpirations, at)) continue;
        endUpload({ objects, uploads }, upload);
        removed++;
      }
    }
    return removed;
  };
  const timer = setInterval(() => {
    try {
      sweep();
    } catch (error) {
      onError(`the S3 sweep failed: ${String(error)}`);
    }
  }, sweepMs).unref();
  const stop = (): void => {
    clearInterval(timer);
    if (dataDir === undefined) removeFolder(folder);
  };

  const service: RestService = {
    name: 's3',
    operation: operationOf,
    input(request) {
      const { bucket: Bucket, key: Key } = objectPathOf(request);
      const { 'if-none-match': IfNoneMatch } = request.headers;
      return { Bucket, Key, ...(IfNoneMatch !== undefined && { IfNoneMatch }) };
    },
    handle,
    refuse: xmlError,
  };
  return { service, sweep, stop };
}

function deleteObject({ key }: ObjectPath, { objects }: Bucket): WireResponse {
  objects.remove(key);
  return { status: 204, body: '' };
}

const temporary = new Set<string>();
process.once('exit', () => temporary.forEach(removeFolder));

/** A folder that ends with the process. Objects of 5 GB do not fit into memory. */
function temporaryFolder(isNeeded: boolean): string {
  if (!isNeeded) return '';
  const folder = mkdtempSync(join(tmpdir(), 'mcp-task-server-s3-'));
  temporary.add(folder);
  return folder;
}

function removeFolder(folder: string): void {
  temporary.delete(folder);
  if (folder !== '') rmSync(folder, { recursive: true, force: true });
}
