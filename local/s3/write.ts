import type { RestHead, StreamedRequest, WireResponse } from '../wire/types.ts';
import { receive } from './body.ts';
import type { Bucket } from './bucket.ts';
import { checksumHeaders } from './checksum.ts';
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

/** The type of an object, and the headers that come back with it. */
export function keptHeaders({ headers }: RestHead): { type: string; headers: Record<string, string> } {
  const kept = Object.fromEntries(KEPT.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])));
  const encodings = headers['content-encoding']?.split(',').map((one) => one.trim()) ?? [];
  const encoding = encodings.filter((one) => one !== 'aws-chunked').join(',');
  const type = headers['content-type'] ?? DEFAULT_TYPE;
  return { type, headers: { ...kept, ...(encoding !== '' && { 'content-encoding': encoding }) } };
}
