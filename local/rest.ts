import type { IncomingMessage } from 'node:http';
import type { AwsError } from './aws-error.ts';
import type { FaultService } from './faults/index.ts';
import type { WireResponse } from './wire.ts';

/** AWS services whose operations are methods and paths, not names in a header. */

export interface RestRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

export interface RestService {
  /** Its name in the call log. */
  readonly name: FaultService;
  readonly operation: (request: RestRequest) => string;
  /** What the call log keeps of a request. */
  readonly input: (request: RestRequest) => unknown;
  readonly handle: (request: RestRequest) => Promise<WireResponse>;
  /** An error as the service answers it. */
  readonly refuse: (error: AwsError, request: RestRequest) => WireResponse;
}

export function restRequest({ method = 'GET', headers }: IncomingMessage, path: string, body: Buffer): RestRequest {
  const single = Object.entries(headers).map(([name, value]) => [name, String(value)]);
  return { method, path, headers: Object.fromEntries(single), body };
}

/** What a request is signed for is part of its signature. */
export function isForS3({ headers }: IncomingMessage): boolean {
  return /Credential=[^,\s]*\/s3\/aws4_request/.test(headers.authorization ?? '');
}
