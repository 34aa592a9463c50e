import { type Node, nodeOf } from './json-text.ts';
import type { Random } from './random.ts';

/** What a client has learned from the server so far; mutations mix it up. */
export interface Known {
  /** 2025-11-25 session ids. */
  readonly sessions: string[];
  readonly tasks: string[];
  /** Cursors, request states, event ids, ids of questions. */
  readonly tokens: string[];
}

export interface Draft {
  readonly method: string;
  readonly headers: [name: string, value: string][];
  readonly body?: Node;
  /** The error codes it may get instead of its result. */
  readonly expects: readonly number[];
}

/** A tool, and arguments it takes. */
export type Calls = (random: Random) => { name: string; arguments?: object };

/** One valid request of either revision, of every kind there is. */
export function validRequest(random: Random, known: Known, calls: Calls): Draft {
  return random.chance(0.5) ? modern(random, known, calls) : legacy(random, known, calls);
}

const posting = (): [string, string][] => [
  ['content-type', 'application/json'],
  ['accept', 'application/json, text/event-stream'],
];
const ALL_KINDS = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const CAPABILITIES = [{ ...TASKS, ...ALL_KINDS }, { ...TASKS, ...ALL_KINDS }, ALL_KINDS, TASKS, { tasks: {} }, {}];
const ANSWERS = [{ action: 'accept', content: { ok: true } }, { action: 'decline' }, { action: 'cancel' }];

const token = (random: Random) => random.pick(['p', 7, '', 'token']);
const one = (random: Random, from: readonly string[], otherwise: string) =>
  from.length > 0 ? random.pick(from) : otherwise;
const id = (random: Random) => random.pick([1, 'a', 0, -5, '', 'id-with-😀', 2 ** 53 - 1]);
const answers = (random: Random) => ({
  [random.pick(['r1.confirm', 'r1.first', 'confirm', 'who'])]: random.pick(ANSWERS),
});

const [REFUSED, NO_METHOD, INVALID, FAILED, MISMATCH, CANNOT] = [-32600, -32601, -32602, -32603, -32020, -32021];

function modern(random: Random, known: Known, calls: Calls): Draft {
  const taskId = one(random, known.tasks, '0'.repeat(36));
  const call = () => ({
    ...calls(random),
    ...(random.chance(0.1) && { inputResponses: answers(random) }),
    ...(random.chance(0.1) && { requestState: one(random, known.tokens, 'a.b') }),
    ...(random.chance(0.1) && { task: { ttl: 5_000 } }),
  });
  const kinds: readonly [string, () => object, number][] = [
    ['tools/call', call, 8],
    ['tasks/get', () => ({ taskId }), 4],
    ['tasks/update', () => ({ taskId, inputResponses: answers(random) }), 3],
    ['tasks/cancel', () => ({ taskId }), 1],
    ['tools/list', () => ({}), 1],
    ['server/discover', () => ({}), 1],
    ['subscriptions/listen', () => ({ notifications: { taskIds: [taskId, one(random, known.tasks, '')] } }), 1],
    ['initialize', () => ({ protocolVersion: '2026-07-28', capabilities: {} }), 0.5],
    ['tasks/list', () => ({}), 0.3],
    ['notifications/cancelled', () => ({ requestId: 1 }), 0.3],
  ];
  const [method, paramsOf] = weighted(random, kinds);
  const params = paramsOf() as { name?: string; taskId?: string };
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'fuzz', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': random.pick(CAPABILITIES),
    ...(random.chance(0.2) && { progressToken: token(random) }),
    ...(random.chance(0.1) && { 'mcp-task-server/idempotencyKey': random.pick(['k'.repeat(32), 'l'.repeat(40)]) }),
  };
  const notification = method.startsWith('notifications/');
  return {
    method: 'POST',
    headers: [
      ...posting(),
      ['mcp-protocol-version', '2026-07-28'],
      ['mcp-method', method],
      ...headersOf({ 'mcp-name': params.name ?? params.taskId }),
    ],
    body: nodeOf({ jsonrpc: '2.0', ...(!notification && { id: id(random) }), method, params: { ...params, _meta } }),
    expects: modernErrors(method, { ...params, _meta }),
  };
}

/** These depend on more than the request: which tasks there are, what the client can do, how the tool ends. */
function modernErrors(method: string, params: object): number[] {
  const text = JSON.stringify(params);
  switch (method) {
    case 'tools/call':
      return [
        ...[CANNOT, FAILED],
        ...(/"(?:requestState|inputResponses|mcp-task-server\/idempotencyKey)":/.test(text) ? [INVALID] : []),
        // The header that repeats its argument is not there.
        ...(text.includes('"region"') ? [MISMATCH] : []),
      ];
    case 'tasks/get':
      // A tool may return a value that looks like a reference to a stored result.
      return [INVALID, CANNOT, REFUSED, FAILED];
    case 'tasks/update':
    case 'tasks/cancel':
      return [INVALID, CANNOT];
    case 'subscriptions/listen':
      return [CANNOT];
    case 'initialize':
    case 'tasks/list':
      return [NO_METHOD];
    default:
      return [];
  }
}

/** The same as `modernErrors` for the older revision, also without tasks. */
function legacyErrors(method: string, params: object, session: string | undefined): number[] {
  switch (method) {
    case 'tools/call':
      return [NO_METHOD, FAILED];
    case 'tasks/get':
      return [NO_METHOD, INVALID, REFUSED];
    case 'tasks/result':
      return [NO_METHOD, INVALID, FAILED];
    case 'tasks/cancel':
      return [NO_METHOD, INVALID];
    case 'tasks/list':
      return [NO_METHOD, ...('cursor' in params || session === undefined ? [INVALID] : [])];
    case 'logging/setLevel':
      return session === undefined || JSON.stringify(params).includes('loud') ? [INVALID] : [];
    case 'resources/list':
      return [NO_METHOD];
    default:
      return [];
  }
}

function legacy(random: Random, known: Known, calls: Calls): Draft {
  const taskId = one(random, known.tasks, '0'.repeat(36));
  const session = random.chance(0.9) ? one(random, known.sessions, '') : undefined;
  const version = random.chance(0.9) ? '2025-11-25' : random.pick(['2025-06-18', undefined]);
  const headers = headersOf({ 'mcp-protocol-version': version, 'mcp-session-id': session });
  const begin = [...(session === '' ? [REFUSED] : []), ...((version ?? session) === undefined ? [MISMATCH] : [])];
  if (random.chance(0.1)) return { ...withoutBody(random, known, headers), expects: begin };
  if (random.chance(0.05)) {
    const message = { id: one(random, known.tokens, 'a.b'), result: random.pick(ANSWERS) };
    return { ...posted(headers, message), expects: [...begin, REFUSED, INVALID] };
  }
  const call = () => ({
    ...calls(random),
    ...(random.chance(0.5) && { task: random.pick([{}, { ttl: 60_000 }, { ttl: 1 }, { ttl: 1e12 }]) }),
    ...(random.chance(0.2) && { _meta: { progressToken: token(random) } }),
  });
  const kinds: readonly [string, () => object, number][] = [
    ['tools/call', call, 8],
    ['tasks/get', () => ({ taskId }), 3],
    ['tasks/result', () => ({ taskId }), 2],
    ['tasks/cancel', () => ({ taskId }), 1],
    ['tasks/list', () => (random.chance(0.3) ? { cursor: one(random, known.tokens, 'a.b') } : {}), 1],
    ['initialize', initializeParams, 1],
    ['tools/list', () => ({}), 1],
    ['ping', () => ({}), 1],
    ['logging/setLevel', () => ({ level: random.pick(['debug', 'error', 'loud']) }), 1],
    ['resources/list', () => ({}), 0.3],
    ['notifications/initialized', () => ({}), 0.3],
  ];
  const [method, paramsOf] = weighted(random, kinds);
  const notification = method.startsWith('notifications/');
  const params = paramsOf();
  return {
    ...posted(headers, { ...(!notification && { id: id(random) }), method, params }),
    expects: [...(method === 'initialize' ? [] : begin), ...legacyErrors(method, params, session)],
  };
}

const initializeParams = () => ({
  protocolVersion: '2025-11-25',
  capabilities: ALL_KINDS,
  clientInfo: { name: 'fuzz', version: '1' },
});

const posted = (headers: Draft['headers'], message: object): Omit<Draft, 'expects'> => ({
  method: 'POST',
  headers: [...posting(), ...headers],
  body: nodeOf({ jsonrpc: '2.0', ...message }),
});

function withoutBody(random: Random, known: Known, headers: Draft['headers']): Omit<Draft, 'expects'> {
  const resume = random.chance(0.6) ? [['last-event-id', one(random, known.tokens, 'a.b')] as [string, string]] : [];
  const method = random.pick(['GET', 'GET', 'GET', 'DELETE', 'OPTIONS']);
  return { method, headers: [['accept', 'text/event-stream'], ...headers, ...resume] };
}

function headersOf(named: Readonly<Record<string, string | undefined>>): [string, string][] {
  return Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
}

function weighted<T>(random: Random, from: readonly (readonly [string, T, number])[]): readonly [string, T] {
  const total = from.reduce((sum, [, , weight]) => sum + weight, 0);
  let left = (random.int(1_000_000) / 1_000_000) * total;
  for (const [name, value, weight] of from) {
    left -= weight;
    if (left < 0) return [name, value];
  }
  throw new Error('Weights add up to more than their total');
}
