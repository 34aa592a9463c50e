import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { AwsError } from '../aws-error.ts';
import type { BucketResource } from '../template/specs.ts';
import type { RestRequest, RestService, WireResponse } from '../wire/types.ts';
import { isExpired } from './lifecycle.ts';
import { type ObjectFacts, type Objects, objectsInFolder, objectsInMemory } from './objects.ts';
import { checkBody, type ObjectPath, objectPathOf, refuseUnknown } from './request.ts';

interface S3Options {
  readonly buckets: readonly BucketResource[];
  /** @default in memory */
  readonly dataDir?: string | undefined;
  readonly now: () => number;
  /** Milliseconds between two removals of expired objects. */
  readonly sweepMs: number;
  readonly onError: (message: string) => void;
}

type Operation = (target: ObjectPath, objects: Objects, request: RestRequest, now: number) => WireResponse;

const OPERATIONS: Readonly<Record<string, readonly [name: string, run: Operation]>> = {
  PUT: ['PutObject', putObject],
  GET: ['GetObject', getObject],
  HEAD: ['HeadObject', headObject],
  DELETE: ['DeleteObject', deleteObject],
};
const DEFAULT_TYPE = 'binary/octet-stream';

/** The part of S3 that tasks need: single objects of the template's buckets, and their expiry. */
export function createS3({ buckets, dataDir, now, sweepMs, onError }: S3Options) {
  const stored = new Map(
    buckets.map((bucket) => {
      const objects = dataDir === undefined ? objectsInMemory() : objectsInFolder(join(dataDir, 's3', bucket.name));
      return [bucket.name, { bucket, objects }] as const;
    }),
  );

  const handle = async (request: RestRequest): Promise<WireResponse> => {
    const target = objectPathOf(request);
    refuseUnknown(request);
    const [, run] = OPERATIONS[request.method] ?? [];
    if (run === undefined || target.key === '') {
      const what = `${request.method} of ${target.key === '' ? 'a bucket' : 'an object'}`;
      throw new AwsError('NotImplemented', `the embedded cloud does not know ${what}`, 501);
    }
    const found = stored.get(target.bucket);
    if (!found) throw new AwsError('NoSuchBucket', 'The specified bucket does not exist', 404);
    return run(target, found.objects, request, now());
  };
  /** Removes expired objects now. Returns how many. */
  const sweep = (): number => {
    const at = now();
    let removed = 0;
    for (const { bucket, objects } of stored.values()) {
      for (const facts of objects.all().filter((object) => isExpired(object, bucket.expirations, at))) {
        objects.remove(facts.key);
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

  const service: RestService = {
    name: 's3',
    operation: ({ method }) => OPERATIONS[method]?.[0] ?? method,
    input: (request) => ({ Bucket: objectPathOf(request).bucket, Key: objectPathOf(request).key }),
    handle,
    refuse: xmlError,
  };
  return { service, sweep, stop: () => clearInterval(timer) };
}

function putObject({ key }: ObjectPath, objects: Objects, request: RestRequest, now: number): WireResponse {
  checkBody(request);
  const { body, headers } = request;
  const etag = `"${createHash('md5').update(body).digest('hex')}"`;
  const type = headers['content-type'] ?? DEFAULT_TYPE;
  objects.write({ key, type, etag, bytes: body.length, modifiedAt: now }, body);
  return { status: 200, headers: { etag }, body: '' };
}

function getObject({ key }: ObjectPath, objects: Objects): WireResponse {
  const facts = existing(key, objects);
  return { status: 200, headers: headersOf(facts), body: objects.read(key) };
}

function headObject({ key }: ObjectPath, objects: Objects): WireResponse {
  return { status: 200, headers: headersOf(existing(key, objects)), body: '' };
}

function deleteObject({ key }: ObjectPath, objects: Objects): WireResponse {
  objects.remove(key);
  return { status: 204, body: '' };
}

function existing(key: string, objects: Objects): ObjectFacts {
  const facts = objects.find(key);
  if (!facts) throw new AwsError('NoSuchKey', 'The specified key does not exist.', 404);
  return facts;
}

function headersOf({ type, etag, bytes, modifiedAt }: ObjectFacts): Record<string, string> {
  const modified = new Date(modifiedAt).toUTCString();
  return { 'content-type': type, 'content-length': String(bytes), etag, 'last-modified': modified };
}

/** An error in the form of S3; an answer to HEAD has no body. */
function xmlError({ type, message, status }: AwsError, { method }: RestRequest): WireResponse {
  const text = message.replace(/[<&]/g, (character) => (character === '<' ? '&lt;' : '&amp;'));
  const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${type}</Code><Message>${text}</Message></Error>`;
  return { status, headers: { 'content-type': 'application/xml' }, body: method === 'HEAD' ? '' : xml, error: type };
}
