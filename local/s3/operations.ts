import { AwsError } from '../aws-error.ts';
import type { RestHead } from '../wire/types.ts';

export interface ObjectPath {
  readonly bucket: string;
  /** Empty for the bucket itself. */
  readonly key: string;
}

/** In UTF-8 (docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html). */
const MAX_KEY_BYTES = 1_024;

const partsOf = ({ path }: RestHead): readonly string[] => /^\/([^/]*)\/?(.*)$/s.exec(path.split('?')[0] ?? '') ?? [];

export function objectPathOf(request: RestHead): ObjectPath {
  const [, bucket = '', key = ''] = partsOf(request);
  try {
    return checked({ bucket: decodeURIComponent(bucket), key: decodeURIComponent(key) });
  } catch (error) {
    if (error instanceof AwsError) throw error;
    throw new AwsError('InvalidURI', "Couldn't parse the specified URI.");
  }
}

function checked(path: ObjectPath): ObjectPath {
  const Size = Buffer.byteLength(path.key);
  if (Size <= MAX_KEY_BYTES) return path;
  throw new AwsError('KeyTooLongError', 'Your key is too long', 400, { Size, MaxSizeAllowed: MAX_KEY_BYTES });
}

export const parametersOf = ({ path }: RestHead): URLSearchParams =>
  new URLSearchParams(path.slice(path.indexOf('?') + 1 || path.length));

/** The query parameter by which AWS clients name the operation. */
const NAMED = 'x-id';

/** Operations by method, `bucket` or `object`, and the parameters that tell them apart. The first match counts. */
const OPERATIONS: readonly (readonly [
  name: string,
  method: string,
  of: 'bucket' | 'object',
  ...parameters: string[],
])[] = [
  ['UploadPart', 'PUT', 'object', 'uploadId'],
  ['UploadPart', 'PUT', 'object', 'partNumber'],
  ['PutObject', 'PUT', 'object'],
  ['CreateMultipartUpload', 'POST', 'object', 'uploads'],
  ['CompleteMultipartUpload', 'POST', 'object', 'uploadId'],
  ['AbortMultipartUpload', 'DELETE', 'object', 'uploadId'],
  ['DeleteObject', 'DELETE', 'object'],
  ['ListParts', 'GET', 'object', 'uploadId'],
  ['GetObject', 'GET', 'object'],
  ['HeadObject', 'HEAD', 'object'],
  ['ListMultipartUploads', 'GET', 'bucket', 'uploads'],
  ['DeleteObjects', 'POST', 'bucket', 'delete'],
  ['ListObjectVersions', 'GET', 'bucket', 'versions'],
  ['ListObjectsV2', 'GET', 'bucket', 'list-type'],
  ['ListObjects', 'GET', 'bucket'],
  ['HeadBucket', 'HEAD', 'bucket'],
  ['CreateBucket', 'PUT', 'bucket'],
  ['DeleteBucket', 'DELETE', 'bucket'],
];
/** Parts of an object or bucket that have operations of their own: `GET ?tagging` is GetObjectTagging. */
const SUBRESOURCES: Readonly<Record<string, string>> = {
  accelerate: 'AccelerateConfiguration',
  acl: 'Acl',
  attributes: 'Attributes',
  cors: 'Cors',
  encryption: 'Encryption',
  'legal-hold': 'LegalHold',
  lifecycle: 'LifecycleConfiguration',
  location: 'Location',
  logging: 'Logging',
  notification: 'NotificationConfiguration',
  policy: 'Policy',
  retention: 'Retention',
  tagging: 'Tagging',
  torrent: 'Torrent',
  versioning: 'Versioning',
  website: 'Website',
};
const VERBS: Readonly<Record<string, string>> = { GET: 'Get', PUT: 'Put', DELETE: 'Delete' };

/** The name of the operation in the API reference of S3, whether it is known here or not. */
export function operationOf(request: RestHead): string {
  const [, bucket = '', key = ''] = partsOf(request);
  const parameters = parametersOf(request);
  const named = parameters.get(NAMED);
  const of = key === '' ? 'bucket' : 'object';
  if (bucket === '') return named ?? 'ListBuckets';
  if (request.headers['x-amz-copy-source'] !== undefined && request.method === 'PUT') {
    return parameters.has('uploadId') ? 'UploadPartCopy' : 'CopyObject';
  }
  const part = Object.keys(SUBRESOURCES).find((one) => parameters.has(one));
  const verb = VERBS[request.method];
  if (part !== undefined && verb !== undefined)
    return `${verb}${key === '' ? 'Bucket' : 'Object'}${SUBRESOURCES[part]}`;
  const found = OPERATIONS.find(
    ([, method, what, ...parameterNames]) =>
      method === request.method && what === of && parameterNames.every((one) => parameters.has(one)),
  );
  const [name = named ?? `${request.method} of ${key === '' ? 'a bucket' : 'an object'}`] = found ?? [];
  return name;
}

const READING = [
  'content-type',
  'content-language',
  'expires',
  'cache-control',
  'content-disposition',
  'content-encoding',
].map((name) => `response-${name}`);
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  GetObject: READING,
  HeadObject: READING,
  CreateMultipartUpload: ['uploads'],
  UploadPart: ['partNumber', 'uploadId'],
  CompleteMultipartUpload: ['uploadId'],
  AbortMultipartUpload: ['uploadId'],
  ListParts: ['uploadId', 'max-parts', 'part-number-marker'],
  ListMultipartUploads: ['uploads', 'max-uploads', 'key-marker', 'upload-id-marker', 'prefix'],
};

const amz = (...names: string[]) => names.map((name) => `x-amz-${name}`);
/** Headers of AWS clients that have no effect here or are checked elsewhere. */
const ALWAYS = amz('content-sha256', 'date', 'security-token', 'user-agent', 'sdk-checksum-algorithm');
const WRITING = amz('checksum-crc32', 'checksum-sha1', 'checksum-sha256', 'trailer', 'decoded-content-length');
const CONDITIONS = ['range', 'if-range', 'if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since'];
const HEADERS: Readonly<Record<string, readonly string[]>> = {
  PutObject: [...WRITING, 'if-none-match'],
  UploadPart: WRITING,
  CreateMultipartUpload: amz('checksum-algorithm', 'checksum-type'),
  CompleteMultipartUpload: ['if-none-match'],
  GetObject: [...CONDITIONS, 'x-amz-checksum-mode'],
  HeadObject: [...CONDITIONS, 'x-amz-checksum-mode'],
};
const WITH_EFFECT = /^(range|if-.+|x-amz-.+)$/;
/** A signature in the query. */
const OF_SIGNATURE = /^x-amz-/i;

/** Refuses, by name, a header or parameter that has an effect in S3 and none here. */
export function refuseUnknown(operation: string, request: RestHead): void {
  const known = [...ALWAYS, ...(HEADERS[operation] ?? [])];
  const header = Object.keys(request.headers).find((name) => WITH_EFFECT.test(name) && !known.includes(name));
  const parameter = [...parametersOf(request).keys()].find(
    (name) => name !== NAMED && !OF_SIGNATURE.test(name) && !PARAMETERS[operation]?.includes(name),
  );
  const unknown = header ?? parameter;
  if (unknown === undefined) return;
  throw new AwsError('NotImplemented', `the embedded cloud does not know ${unknown} of ${operation} of S3`, 501);
}
