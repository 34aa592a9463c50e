import type { FileMethod } from '../../tasks/aws/s3-files.ts';
import { fileKey } from '../../tasks/files/file.ts';
import { limits } from '../../tasks/limits.ts';
import { logUnexpected } from '../../tasks/log.ts';
import type { ServerContext } from '../context.ts';
import type { HttpReply } from '../http/http.ts';
import { placeOf } from '../read/links.ts';

/** No copy of the answer or of its URL is kept, and no page gets the URL. */
const HEADERS = {
  'content-type': 'text/plain; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex, nofollow',
} as const;

const reply = (status: number, body: string, headers: Readonly<Record<string, string>> = {}): HttpReply => ({
  status,
  headers: { ...HEADERS, ...headers },
  body: `${body}\n`,
});

/**
 * Answers the GET or HEAD of a file: redirects to S3. The URL is the key, so no token is asked for, and nothing is read for a URL that this
 * server has not made. Never logs a URL.
 */
export async function serveFile(
  { method, token, name }: { readonly method: FileMethod; readonly token: string; readonly name: string },
  server: ServerContext,
): Promise<HttpReply> {
  try {
    const place = await placeOf(token, name, server);
    if (place === undefined || server.now() >= place.until) {
      return reply(404, 'There is nothing here. A link works for an hour: read the result again for a fresh one.');
    }
    const location = await server.files.presign(fileKey(place, place.id), limits.files.presigned / 1_000, method);
    return reply(302, 'The file is at the Location of this answer.', { location });
  } catch (error) {
    logUnexpected(error, 'file');
    return reply(503, 'The server cannot do this at the moment: try again in a few seconds', { 'retry-after': '5' });
  }
}
