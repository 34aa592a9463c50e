import { AwsError } from '../aws-error.ts';
import type { RestHead, StreamedRequest, WireResponse } from '../wire/types.ts';
import { receive } from './body.ts';
import type { Bucket } from './bucket.ts';
import { checksumHeaders } from './checksum.ts';
import type { Objects } from './objects.ts';
import type { ObjectPath } from './operations.ts';

const DEFAULT_TYPE = 'binary/octet-stream';
const KEPT = ['cache-control', 'content-disposition', 'content-language', 'expires'] as const;

export async function putObject(
  { key }: ObjectPath,
  { objects }: Bucket,
  request: StreamedRequest,
  now: () => number,
): Promise<WireResponse> {
  const receiver = objects.receiver();
  let at = 0;
  try {
    const { bytes, md5, checksum } = await receive(request, (piece) => {
      receiver.write(piece, at);
      at += piece.length;
    });
    checkAbsent(key, objects, request);
    const etag = `"${md5}"`;
    const content = { file: receiver.file, segments: [{ at: 0, bytes }] };
    objects.commit({ key, ...keptHeaders(request), etag, bytes, checksum, modifiedAt: now(), content });
    return { status: 200, headers: { etag, ...(checksum && checksumHeaders(checksum)) }, body: '' };
  } catch (error) {
    objects.drop(receiver.file);
    throw error;
  } finally {
    receiver.close();
  }
}

/**
 * Judges `If-None-Match` of a write: of several at the same time, the first that ends counts
 * (docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html).
 */
export function checkAbsent(key: string, objects: Pick<Objects, 'find'>, { headers }: RestHead): void {
  const { 'if-none-match': noneMatch } = headers;
  if (noneMatch === undefined) return;
  if (noneMatch !== '*') {
    const message = 'A header you provided implies functionality that is not implemented';
    throw new AwsError('NotImplemented', message, 501, { Header: 'If-None-Match' });
  }
  if (objects.find(key) === undefined) return;
  const message = 'At least one of the pre-conditions you specified did not hold';
  throw new AwsError('PreconditionFailed', message, 412, { Condition: 'If-None-Match' });
}

/** The type of an object, and the headers that come back with it. */
export function keptHeaders({ headers }: RestHead): { type: string; headers: Record<string, string> } {
  const kept = Object.fromEntries(KEPT.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])));
  const encodings = headers['content-encoding']?.split(',').map((one) => one.trim()) ?? [];
  const encoding = encodings.filter((one) => one !== 'aws-chunked').join(',');
  const type = headers['content-type'] ?? DEFAULT_TYPE;
  return { type, headers: { ...kept, ...(encoding !== '' && { 'content-encoding': encoding }) } };
}
