import { brokenBody, hostileHeader, hostileName, hostileString, hostileValue, wounded } from './hostile.ts';
import { type Node, objectsIn, slotsOf, textOf } from './json-text.ts';
import type { Random } from './random.ts';
import { type Calls, type Draft, type Known, validRequest } from './requests.ts';

/** The bytes of a request. */
export interface WireRequest {
  readonly method: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: Buffer;
  /** The error codes that a valid request may get instead of its result. */
  readonly expects?: readonly number[];
}

/** Anything from a valid request to noise; most are valid but for one to three changes. */
export function fuzzedRequest(random: Random, known: Known, calls: Calls): WireRequest {
  const draft = validRequest(random, known, calls);
  const { method, body: message } = draft;
  const hurtBody = message !== undefined && random.chance(0.65);
  if (hurtBody) mutateBody(message, random, known);
  const hurtHeaders = random.chance(0.25);
  if (hurtHeaders) mutateHeaders(draft, random, known);
  const whole = message === undefined ? undefined : Buffer.from(textOf(message));
  const body = whole && hurt(whole, random);
  const other = random.chance(0.01) ? random.pick(['GET', 'DELETE', 'OPTIONS', 'POST']) : method;
  // The result of a tool may be larger than its arguments.
  const fits = whole === undefined || whole.length < 40_000;
  const inOrder = fits && !hurtBody && !hurtHeaders && body === whole && other === method;
  const sent = other === 'GET' ? undefined : body;
  return {
    method: other,
    headers: draft.headers,
    ...(sent !== undefined && { body: sent }),
    ...(inOrder && { expects: draft.expects }),
  };
}

/** The very same body, most times. */
function hurt(body: Buffer, random: Random): Buffer {
  if (random.chance(0.05)) return brokenBody(random);
  return random.chance(0.08) ? wounded(body, random) : body;
}

function mutateBody(message: Node, random: Random, known: Known): void {
  for (let left = 1 + random.int(3); left > 0; left--) mutateOnce(message, random, known);
}

function mutateOnce(message: Node, random: Random, known: Known): void {
  // Mostly inner values: the endpoint refuses a message without its method at once.
  const within = random.chance(0.8) ? (paramsOf(message) ?? message) : message;
  const slot = random.pick(slotsOf(within));
  const { members } = random.pick(objectsIn(within));
  const at = random.int(members.length);
  const member = members[at];
  switch (random.int(8)) {
    case 0:
      members.splice(at, 1);
      break;
    case 1:
      members.push([hostileName(random), hostileValue(random)]);
      break;
    case 2:
      // The same name once more, with something else.
      if (member) members.push([member[0], hostileValue(random)]);
      break;
    case 3:
      if (member) member[0] = random.chance(0.5) ? member[0].toUpperCase() : hostileName(random);
      break;
    case 4:
      slot?.replace(random.chance(0.5) ? { items: [slot.node] } : { members: [[hostileName(random), slot.node]] });
      break;
    case 5:
      slot?.replace(JSON.stringify(aKnown(random, known)));
      break;
    default:
      slot?.replace(hostileValue(random));
  }
}

function paramsOf(message: Node): Node | undefined {
  if (typeof message === 'string' || 'items' in message) return undefined;
  const params = message.members.find(([name]) => name === 'params' || name === 'result')?.[1];
  return params !== undefined && objectsIn(params).length > 0 ? params : undefined;
}

/** A value of the server in a wrong place or state. */
function aKnown({ pick, int, chance }: Random, { sessions, tasks, tokens }: Known): string {
  const all = [...sessions, ...tasks, ...tokens];
  const text = all.length === 0 ? 'a.b' : pick(all);
  if (chance(0.5)) return text;
  const at = int(text.length + 1);
  const other = pick(['', 'A', '.', '_', '0', '=', text]);
  return pick([text.slice(0, at), text.slice(0, at) + other + text.slice(at + 1), text.toUpperCase(), `${text} `]);
}

const HEADER_NAMES = [
  ...['mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id', 'last-event-id', 'accept', 'content-type'],
  ...['origin', 'idempotency-key', 'mcp-param-region', 'mcp-param-__proto__', '__proto__', 'constructor', 'x-fuzz'],
  ...['access-control-request-headers', 'authorization', 'x-forwarded-for', 'content-encoding', 'traceparent'],
];

function mutateHeaders({ headers }: Draft, random: Random, known: Known): void {
  for (let left = 1 + random.int(2); left > 0; left--) {
    const at = random.int(headers.length);
    const header = headers[at];
    const value = random.chance(0.2) ? aKnown(random, known) : hostileHeader(random);
    switch (random.int(4)) {
      case 0:
        headers.splice(at, 1);
        break;
      case 1:
        if (header) header[1] = value;
        break;
      case 2:
        // Twice, under a name in other letters.
        if (header) headers.push([header[0].toUpperCase(), random.chance(0.5) ? header[1] : value]);
        break;
      default:
        headers.push([random.pick(HEADER_NAMES), random.chance(0.1) ? printable(hostileString(random)) : value]);
    }
  }
}

/** What HTTP can carry in a header. */
const printable = (text: string): string => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '?').slice(0, 8_000);
