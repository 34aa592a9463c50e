import type { IncomingMessage } from 'node:http';
import type { RestRequest } from './types.ts';

export function restRequest({ method = 'GET', headers }: IncomingMessage, path: string, body: Buffer): RestRequest {
  const single = Object.entries(headers).map(([name, value]) => [name, String(value)]);
  return { method, path, headers: Object.fromEntries(single), body };
}

/** The signature names the service. */
export function isForS3({ headers }: IncomingMessage): boolean {
  return /Credential=[^,\s]*\/s3\/aws4_request/.test(headers.authorization ?? '');
}
