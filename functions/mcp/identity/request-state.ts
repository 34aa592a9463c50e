import { createHash, randomUUID } from 'node:crypto';
import { InvalidParams } from '../../tasks/errors.ts';
import { bindingOf, listPartition } from '../../tasks/ids.ts';
import { limits } from '../../tasks/limits.ts';
import { isObject } from '../../tasks/shape.ts';
import type { Call, ServerContext } from '../context.ts';

/** The state that a 2026-07-28 client carries from one round of a call to the next (D-20 to D-23). */
export interface RequestState {
  /** The task that waits for the answers. */
  readonly taskId?: string;
  /** The state of a tool that runs without a task. */
  readonly tool?: unknown;
}

interface Sealed extends RequestState {
  readonly digest: string;
  readonly expires: number;
}

const purpose = ({ principal }: Call) => `state:${bindingOf(principal)}`;

/** A new token each round. It opens only for the same caller, method and arguments, until it expires. */
export function sealState(call: Call, state: RequestState, server: ServerContext): Promise<string> {
  const expires = server.now() + limits.requestState;
  return server.signer.seal(purpose(call), { ...state, digest: callDigest(call), expires, round: randomUUID() });
}

/** Undefined if the request has no state (D-24). Throws InvalidParams for a forged, expired or foreign one. */
export async function openState(call: Call, server: ServerContext): Promise<RequestState | undefined> {
  const { requestState } = call.params;
  if (requestState === undefined) return undefined;
  const opened = typeof requestState === 'string' ? await server.signer.open(purpose(call), requestState) : undefined;
  const state = opened as Sealed | undefined;
  if (state === undefined || state.expires <= server.now() || state.digest !== callDigest(call)) {
    server.audit('denied', { owner: listPartition(call.principal), reason: 'request_state' });
    throw new InvalidParams('requestState is not valid for this request');
  }
  return state;
}

/** The client's answers of this round, by key. Each must be an object (D-25). */
export function inputResponsesOf({ params }: Call): Record<string, Record<string, unknown>> {
  const { inputResponses = {} } = params;
  const responses = responsesIn(inputResponses);
  for (const [key, value] of Object.entries(responses)) {
    if (!isObject(value)) throw new InvalidParams(`inputResponses['${key.slice(0, 100)}'] must be an object`);
  }
  return responses as Record<string, Record<string, unknown>>;
}

/** Answers by key. They may be anything. */
export function responsesIn(inputResponses: unknown): Record<string, unknown> {
  if (!isObject(inputResponses)) throw new InvalidParams('inputResponses must be an object');
  const bytes = Buffer.byteLength(JSON.stringify(inputResponses));
  if (bytes <= limits.inputResponses) return inputResponses;
  throw new InvalidParams(`inputResponses may take ${limits.inputResponses} bytes at most`);
}

/** A hash of what a call asks for: method, tool and arguments. */
export function callDigest({ method, params }: Call): string {
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
