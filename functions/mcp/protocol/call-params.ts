import { createHash } from 'node:crypto';
import { InvalidParams } from '../../tasks/errors.ts';
import { limits } from '../../tasks/limits.ts';
import { isObject } from '../../tasks/shape.ts';
import type { Call } from '../context.ts';
import type { RequestId } from './jsonrpc.ts';

/** What a call says: its arguments, its answers, and what else it carries in `_meta`, or in a header. */

type Said = Pick<Call, 'params'>;

const metaOf = ({ params }: Said): Readonly<Record<string, unknown>> => (isObject(params._meta) ? params._meta : {});

export function argumentsOf({ params }: Said): Record<string, unknown> {
  const args = params.arguments ?? {};
  if (!isObject(args)) throw new InvalidParams('arguments must be an object');
  return args;
}

/** The client's answers of this round, by key. Each must be an object (D-25). */
export function inputResponsesOf({ params }: Said): Record<string, Record<string, unknown>> {
  const { inputResponses = {} } = params;
  const responses = responsesIn(inputResponses);
  for (const [key, value] of Object.entries(responses)) {
    if (!isObject(value)) throw new InvalidParams(`inputResponses['${key.slice(0, 100)}'] must be an object`);
  }
  return responses as Record<string, Record<string, unknown>>;
}

/** Answers by key. They may be anything. @param name what the client calls them */
export function responsesIn(responses: unknown, name = 'inputResponses'): Record<string, unknown> {
  if (!isObject(responses)) throw new InvalidParams(`${name} must be an object`);
  const bytes = Buffer.byteLength(JSON.stringify(responses));
  if (bytes <= limits.inputResponses) return responses;
  throw new InvalidParams(`${name} may take ${limits.inputResponses} bytes at most`);
}

/** A hash of what a call asks for: method, tool and arguments. */
export function callDigest({ method, params }: Pick<Call, 'method' | 'params'>): string {
  const text = JSON.stringify([method, params.name, canonicalJson(params.arguments ?? {})]);
  return createHash('sha256').update(text).digest('base64url');
}

/** JSON text with sorted keys: a client may order them differently when it repeats a call. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`).join()}}`;
}

/** A-22: a token is a string or an integer. A token too long for a record is ignored: progress is optional. */
export function progressTokenOf(call: Said): RequestId | undefined {
  const token = metaOf(call).progressToken;
  if (typeof token === 'string') return Buffer.byteLength(token) <= limits.progressToken ? token : undefined;
  return Number.isSafeInteger(token) ? (token as number) : undefined;
}

const LONGEST_KEY = 255;
/** The length of a random UUID without dashes. The key replaces the caller's identity, so it must not be guessable. */
const SHORTEST_SECRET = 32;

/**
 * The key with which a client can repeat a call and get the same task, until its record expires. It comes in `_meta` or
 * in the header Idempotency-Key. For an anonymous caller without a session the key is the only identity, so there it
 * must be as long as a random UUID.
 */
export function idempotencyKeyOf(call: Pick<Call, 'params' | 'principal' | 'request'>): string | undefined {
  const { principal, request } = call;
  const key = metaOf(call)['mcp-task-server/idempotencyKey'] ?? request.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || key === '' || key.length > LONGEST_KEY) {
    throw new InvalidParams(`The idempotency key is a string of 1 to ${LONGEST_KEY} characters`);
  }
  if (principal.kind === 'anonymous' && principal.session === undefined && key.length < SHORTEST_SECRET) {
    throw new InvalidParams(
      `Without a session an idempotency key has at least ${SHORTEST_SECRET} characters: use a random UUID`,
    );
  }
  return key;
}

/** W3C Trace Context, version 00: ids of zeros are not valid, and neither is version ff. */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;

/** The trace that a call belongs to: by its `_meta` (SEP-414), or by its HTTP header. An invalid one is ignored. */
export function traceparentOf(call: Pick<Call, 'params' | 'request'>): string | undefined {
  return [metaOf(call).traceparent, call.request.headers.traceparent].find(
    (value): value is string => typeof value === 'string' && TRACEPARENT.test(value),
  );
}

/** A request of a session, as the record of its task names it. */
export const requestName = (session: string, id: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify([session, id]))
    .digest('base64url')
    .slice(0, 22);

/**
 * The name of a call that can be cancelled by `notifications/cancelled`: a plain one of a 2025-11-25 session. A call that
 * asks for a task is answered at once, and its task is cancelled by `tasks/cancel`.
 */
function cancelNameOf({ session, tasks, params, id }: Call): string | undefined {
  if (session === undefined || (tasks && params.task !== undefined)) return undefined;
  return requestName(session, id);
}

/** What the record of a new task has of its call, beside tool, arguments and caller. */
export function optionsOf(call: Call) {
  const idempotencyKey = idempotencyKeyOf(call);
  return {
    idempotencyKey,
    digest: idempotencyKey && callDigest(call),
    progressToken: progressTokenOf(call),
    traceparent: traceparentOf(call),
    call: cancelNameOf(call),
  };
}
