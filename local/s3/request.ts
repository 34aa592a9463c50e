import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { AwsError } from '../aws-error.ts';
import type { RestRequest } from '../wire/types.ts';

export interface ObjectPath {
  readonly bucket: string;
  /** Empty for the bucket itself. */
  readonly key: string;
}

export function objectPathOf({ path }: RestRequest): ObjectPath {
  const [, bucket = '', key = ''] = /^\/([^/]*)\/?(.*)$/s.exec(path.split('?')[0] ?? '') ?? [];
  try {
    return { bucket: decodeURIComponent(bucket), key: decodeURIComponent(key) };
  } catch {
    throw new AwsError('InvalidURI', "Couldn't parse the specified URI.");
  }
}

/** Headers of AWS clients that have no effect here or are checked below. */
const KNOWN = new Set(
  [
    'content-sha256',
    'date',
    'security-token',
    'user-agent',
    'checksum-crc32',
    'checksum-mode',
    'sdk-checksum-algorithm',
  ].map((name) => `x-amz-${name}`),
);
const ELSEWHERE = /^(range|if-.+|x-amz-.+)$/;
/** The query parameter by which AWS clients name the operation. */
const NAMED = 'x-id';

/** Refuses, by name, a header or parameter that has an effect in S3 and none here. */
export function refuseUnknown({ path, headers }: RestRequest): void {
  const header = Object.keys(headers).find((name) => ELSEWHERE.test(name) && !KNOWN.has(name));
  const parameter = [...new URLSearchParams(path.split('?')[1] ?? '').keys()].find((name) => name !== NAMED);
  const unknown = header ?? parameter;
  if (unknown === undefined) return;
  throw new AwsError('NotImplemented', `the embedded cloud does not know ${unknown} of S3`, 501);
}

export function checkBody({ headers, body }: RestRequest): void {
  const { 'content-length': length, 'x-amz-content-sha256': sha256, 'x-amz-checksum-crc32': crc } = headers;
  if (length === undefined) throw new AwsError('MissingContentLength', 'You must provide the Content-Length.', 411);
  if (sha256 === undefined) {
    throw new AwsError('InvalidRequest', 'Missing required header for this request: x-amz-content-sha256');
  }
  if (sha256.startsWith('STREAMING-')) {
    throw new AwsError('NotImplemented', `the embedded cloud does not know x-amz-content-sha256 ${sha256}`, 501);
  }
  if (sha256 !== 'UNSIGNED-PAYLOAD' && sha256 !== createHash('sha256').update(body).digest('hex')) {
    throw new AwsError('XAmzContentSHA256Mismatch', "The provided 'x-amz-content-sha256' does not match the body.");
  }
  if (crc !== undefined && crc !== crc32Of(body)) {
    throw new AwsError('BadDigest', 'The CRC32 you specified did not match the calculated checksum.');
  }
}

function crc32Of(body: Buffer): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(body));
  return bytes.toString('base64');
}
