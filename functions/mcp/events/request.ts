import { createHash } from 'node:crypto';
import { sufficient } from '../../authorizer/scopes.ts';
import type { Filter } from '../../events/match.ts';
import { EVENT_NAMES, type EventName } from '../../events/ports.ts';
import type { Facts } from '../../tasks/audit.ts';
import { InsufficientScope, InvalidParams } from '../../tasks/errors.ts';
import { listPartition } from '../../tasks/ids.ts';
import { limits } from '../../tasks/limits.ts';
import { has, isNumber, isObject, isString, oneOf } from '../../tasks/shape.ts';
import type { Call, ServerContext } from '../context.ts';
import { hasScopes } from '../identity/tool-scopes.ts';
import { argumentsOf, canonicalJson } from '../protocol/call-params.ts';
import { readTask } from '../read/read.ts';
import { EventsError } from './errors.ts';
import { ENDS } from './types.ts';

/** What a caller asks to hear of. */
export interface Asked extends Filter {
  readonly owner: string;
  readonly name: EventName;
}

/** The caller and the type: the first checks of each method. */
export function namedIn(call: Call): Asked {
  const { principal, params } = call;
  const refuse = (reason: string) => new EventsError(call, 'Forbidden', { reason });
  if (principal.kind !== 'verified') throw refuse('Events are for verified callers');
  const name = EVENT_NAMES.find((one) => one === params.name);
  if (name === undefined) throw new EventsError(call, 'NotFound', { kind: 'event' });
  return { owner: principal.key, name, arguments: argumentsOf(call), scopes: principal.scopes ?? [] };
}

/** The same, and the arguments, by the schema of `events/list`. */
export function askedOf(call: Call, server: ServerContext): Asked {
  const asked = namedIn(call);
  const { name, arguments: args } = asked;
  const tools = server.manifest.tools.filter(({ taskSupport }) => taskSupport !== 'forbidden');
  const known = {
    taskId: isString,
    tool: oneOf(...tools.map((tool) => tool.name)),
    ...(name === 'task.finished' && { status: oneOf(...ENDS) }),
  };
  const other = Object.keys(args).find((arg) => !Object.hasOwn(known, arg));
  if (other !== undefined) throw new InvalidParams(`arguments has no '${other.slice(0, 100)}': see events/list`);
  if (!has({}, known)(args)) throw new InvalidParams('arguments do not fit the inputSchema of events/list');
  return { ...asked, scopes: keptOf(asked.scopes, server) };
}

/** Each event writes the whole subscription, so it keeps of many scopes those that tools need. */
function keptOf(scopes: readonly string[], { manifest }: ServerContext): readonly string[] {
  if (Buffer.byteLength(scopes.join()) <= limits.mcpEvents.scopes) return scopes;
  const needed = manifest.tools.flatMap((tool) => tool.scopes ?? []);
  return scopes.filter((scope) => needed.some((one) => sufficient([one], [scope])));
}

/** Throws if the caller may not see the tool or the task of the arguments. */
export async function authorized(asked: Asked, call: Call, server: ServerContext): Promise<void> {
  const { principal } = call;
  const { tool, taskId } = asked.arguments;
  if (isString(tool) && !hasScopes(principal, { tool: String(tool) }, server)) {
    const owner = listPartition(principal);
    server.audit('denied', { owner, tool: String(tool), reason: 'insufficient_scope' });
    throw new EventsError(call, 'Forbidden', { scopes: server.tools.get(String(tool))?.entry.scopes ?? [] });
  }
  if (taskId === undefined) return;
  await readTask(principal, taskId, server).catch((error: unknown) => {
    if (error instanceof InsufficientScope) throw new EventsError(call, 'Forbidden', error.data as object);
    throw error;
  });
}

/** Not there and `null`: from now on. */
export function cursorIn({ params: { cursor = null } }: Pick<Call, 'params'>): string | null {
  if (cursor !== null && typeof cursor !== 'string') throw new InvalidParams('cursor must be a string or null');
  return cursor;
}

/** Events before this time are not wanted, in ms since the epoch. */
export function sinceOf({ params: { maxAgeMs = null } }: Pick<Call, 'params'>, now: number): number {
  if (maxAgeMs === null) return 0;
  const [age, most] = [Number(maxAgeMs), Number.MAX_SAFE_INTEGER];
  if (!isNumber(maxAgeMs) || !(age >= 0 && age <= most)) throw new InvalidParams(`maxAgeMs must be from 0 to ${most}`);
  return now - age;
}

/** The same each time for a caller, a URL, a name and arguments. It opens nothing. */
export function subscriptionId({ owner, name, arguments: args }: Asked, url: string): string {
  const text = canonicalJson([owner, url, name, args]);
  return `sub_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
}

/** The same each time for a URL, and short: each event reads it with all subscriptions of its owner. */
export const endpointOf = (url: string): string => createHash('sha256').update(url).digest('base64url').slice(0, 22);

/** `delivery` of a request. Throws for a mode other than `webhook`. */
export function deliveryIn(call: Call): Readonly<Record<string, unknown>> {
  const { delivery } = call.params;
  if (!isObject(delivery)) throw new InvalidParams('delivery must be an object');
  const { mode = 'webhook' } = delivery;
  if (mode !== 'webhook') throw new EventsError(call, 'Unsupported', { feature: 'deliveryMode', value: mode });
  return delivery;
}

/** What the audit log says of a subscription: never where it goes. */
export const auditedFacts = ({ owner, name, arguments: args }: Asked, subscription: string): Facts => ({
  owner,
  subscription,
  name,
  ...(isString(args.tool) && { tool: String(args.tool) }),
  ...(isString(args.taskId) && { taskId: String(args.taskId) }),
});
