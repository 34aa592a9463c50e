import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { AwsError } from '../aws-error.ts';
import type { FaultService } from '../faults/index.ts';
import type { JsonObject } from '../json.ts';
import type { HttpRequest } from '../lambda/types.ts';
import type { Consumed } from './call-log.ts';

/** A request to a service that speaks AWS JSON. In a RestRequest, method and path are the operation. */
export interface WireRequest {
  readonly operation: string;
  /** The access key the request was signed with: the logical id of the function or role that calls. */
  readonly caller: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface WireResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  /** What follows the headers in place of `body`. */
  readonly stream?: Readable;
  readonly error?: string | undefined;
  readonly consumed?: Consumed | undefined;
}

/** @param worker the id of the worker that calls, if a function does */
export type Operations = Readonly<Record<string, (input: JsonObject, worker?: string) => Promise<unknown>>>;

export interface WireService {
  /** Its name in the call log. */
  readonly name: FaultService;
  readonly handle: (request: WireRequest) => Promise<WireResponse>;
}

export type RestRequest = Readonly<HttpRequest>;

export type RestHead = Omit<RestRequest, 'body'>;

/** A request whose body may be larger than the memory. */
export interface StreamedRequest extends RestHead {
  readonly body: AsyncIterable<Buffer>;
}

export interface RestService {
  /** Its name in the call log. */
  readonly name: FaultService;
  readonly operation: (request: RestHead) => string;
  /** The input of a request as the call log keeps it. */
  readonly input: (request: RestHead) => unknown;
  /** @throws AwsError */
  readonly handle: (request: StreamedRequest) => Promise<WireResponse>;
  readonly refuse: (error: AwsError, request: RestHead) => WireResponse;
}
