import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { type Answer, modernMessage, POSTED } from '../../support/clients.ts';
import { inProcess } from './in-process.ts';
import { internalsIn, type WireAnswer } from './judge/judge.ts';

/**
 * Every call of the endpoint to DynamoDB, Step Functions, Secrets Manager and Lambda, failing: each alone, and each with
 * all that come after it. What the SDK repeats by itself, it has repeated by then.
 */
const ALL = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const KEY = 'k'.repeat(40);
/** So many calls at the beginning and at the end of a request fail each, and one in so many between them. */
const EACH = 12;
const question = {
  method: 'elicitation/create',
  params: { message: 'm', requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } } },
};
const asking = JSON.stringify({ inputRequests: { a: question } });
const yes = { action: 'accept', content: { ok: true } };
const one = { name: 'optional', arguments: { json: '1' } };
const asks = { name: 'optional', arguments: { json: asking } };

beforeEach(() => {
  vi.spyOn(console, 'error').mockReturnValue();
});

type Target = Awaited<ReturnType<typeof newTarget>>;
type Body = Answer['body'];

async function newTarget() {
  const target = inProcess();
  let calls = 0;
  let down = (_call: number) => false;
  const guarded = <T extends object>(service: T): T =>
    new Proxy(service, {
      get(target, name) {
        const operation = Reflect.get(target, name) as (...args: unknown[]) => unknown;
        return async (...args: unknown[]) => {
          if (down(++calls)) throw throttled();
          return operation.apply(target, args);
        };
      },
    });
  const { store, workflow, signer, results } = target.server;
  const invoke = guarded({ invoke: target.server.invoke });
  const services = { store: guarded(store), workflow: guarded(workflow), signer: guarded(signer) };
  Object.assign(target.server, services, {
    results: guarded(results),
    invoke: (...args: Parameters<typeof target.server.invoke>) => invoke.invoke(...args),
  });

  const http = (headers: Record<string, string | undefined>, body?: object) =>
    target.send({
      method: body === undefined ? 'GET' : 'POST',
      headers: Object.entries({ ...POSTED, ...headers }).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value] as const],
      ),
      ...(body !== undefined && { body: Buffer.from(JSON.stringify(body)) }),
    });
  const modern = (method: string, params: Record<string, unknown>, capabilities: object = { ...ALL, ...TASKS }) => {
    const { body, headers } = modernMessage(method, params, { capabilities });
    return http(headers, body);
  };
  const params = { protocolVersion: '2025-11-25', capabilities: ALL, clientInfo: { name: 'test', version: '1' } };
  const initialize = () => http({}, { jsonrpc: '2.0', id: 1, method: 'initialize', params });
  const session = (await initialize()).headers['mcp-session-id'];
  const headers = { 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': session };
  const legacy = (method: string, params_: object) => http(headers, { jsonrpc: '2.0', id: 1, method, params: params_ });
  return {
    ...{ records: target.records, server: target.server, did: target.did, modern, legacy, initialize },
    get: (more: object = {}) => http({ ...headers, ...more, accept: 'text/event-stream' }),
    answer: (id: string, result: object) => http(headers, { jsonrpc: '2.0', id, result }),
    /** From here on, which calls fail, by their number. */
    failing(which: (call: number) => boolean) {
      calls = 0;
      down = which;
    },
    calls: () => calls,
  };
}

function throttled(): Error {
  const message = 'Rate exceeded for arn:aws:dynamodb:us-east-1:123456789012:table/tasks';
  return Object.assign(new Error(message), { name: 'ThrottlingException', $metadata: { httpStatusCode: 400 } });
}

/** The records that a request which was answered with an error must not leave behind. */
type HalfDone = (records: TaskRecord[]) => TaskRecord[];
/** No client has the ids of these tasks: they failed, or are never started (crash table, rows 2 to 4). */
const ran: HalfDone = (records) => records.filter(({ status }) => !['failed', 'working'].includes(status));

interface Scenario {
  readonly prepare: (target: Target) => Promise<unknown>;
  readonly request: (target: Target, prepared: never) => Promise<WireAnswer>;
  /** Checks that the request, made again after the outage, has done its work. */
  readonly then: (again: Body, target: Target) => unknown;
  readonly halfDone?: HalfDone | undefined;
}
const scenario = <T>(
  prepare: (target: Target) => Promise<T>,
  request: (target: Target, prepared: T) => Promise<WireAnswer>,
  then: Scenario['then'],
  halfDone?: HalfDone,
): Scenario => ({ prepare, request, then, halfDone });

const made = async (target: Target, json: string, era: 'modern' | 'legacy' = 'modern'): Promise<string> => {
  const answer = await target[era]('tools/call', { name: 'optional', arguments: { json }, task: {} });
  const { result } = lastOf(answer);
  return result.taskId ?? result.task.taskId;
};
const nothing = async () => undefined;
const hasResult = (again: Body) => expect(again).toHaveProperty('result');
const completed = (again: Body) => expect(again.result.status).toBe('completed');

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'tools/call of a direct tool': scenario(
    nothing,
    (target) => target.modern('tools/call', { name: 'direct', arguments: { json: '1' } }),
    hasResult,
  ),
  'tools/call, 2026-07-28, as a task': scenario(
    nothing,
    (target) => target.modern('tools/call', one),
    (again) => expect(again.result.resultType).toBe('task'),
    ran,
  ),
  'tools/call, 2026-07-28, without a task': scenario(
    nothing,
    (target) => target.modern('tools/call', one, {}),
    hasResult,
    ran,
  ),
  'tools/call, 2026-07-28, with an idempotency key': scenario(
    nothing,
    (target) => target.modern('tools/call', { ...one, _meta: { 'mcp-task-server/idempotencyKey': KEY } }),
    hasResult,
  ),
  'tools/call, 2026-07-28, that goes on with answers': scenario(
    async (target) => lastOf(await target.modern('tools/call', asks, ALL)).result.requestState,
    (target, requestState) =>
      target.modern('tools/call', { ...asks, requestState, inputResponses: { 'r1.a': yes } }, ALL),
    hasResult,
  ),
  'tools/call, 2025-11-25, as a task': scenario(
    nothing,
    (target) => target.legacy('tools/call', { ...one, task: {} }),
    (again) => expect(again.result.task.status).toBe('working'),
    ran,
  ),
  'tools/call, 2025-11-25, without a task': scenario(
    nothing,
    (target) => target.legacy('tools/call', one),
    hasResult,
    ran,
  ),
  'tools/call that asks first': scenario(
    nothing,
    (target) => target.legacy('tools/call', { name: 'asks_first', arguments: {}, task: {} }),
    hasResult,
  ),
  'tasks/get, 2026-07-28': scenario(
    (target) => made(target, '1'),
    (target, taskId) => target.modern('tasks/get', { taskId }),
    completed,
  ),
  'tasks/get, 2025-11-25, of a task that asks': scenario(
    (target) => made(target, asking, 'legacy'),
    (target, taskId) => target.legacy('tasks/get', { taskId }),
    (again) => expect(again.result.status).toBe('input_required'),
  ),
  'tasks/update': scenario(
    (target) => made(target, asking),
    (target, taskId) => target.modern('tasks/update', { taskId, inputResponses: { 'r1.a': yes } }),
    (again, { records }) => {
      hasResult(again);
      expect(records.all().at(-1)?.round).toBe(2);
    },
  ),
  'tasks/cancel, 2026-07-28': scenario(
    (target) => made(target, asking),
    (target, taskId) => target.modern('tasks/cancel', { taskId }),
    (again, { records }) => {
      hasResult(again);
      expect(records.all().at(-1)?.status).toBe('cancelled');
    },
  ),
  'tasks/cancel, 2025-11-25': scenario(
    (target) => made(target, asking, 'legacy'),
    (target, taskId) => target.legacy('tasks/cancel', { taskId }),
    (_again, { records }) => expect(records.all().at(-1)?.status).toBe('cancelled'),
  ),
  'tasks/result of a task that is over': scenario(
    (target) => made(target, '1', 'legacy'),
    (target, taskId) => target.legacy('tasks/result', { taskId }),
    hasResult,
  ),
  'tasks/result of a task that asks': scenario(
    (target) => made(target, asking, 'legacy'),
    (target, taskId) => target.legacy('tasks/result', { taskId }),
    () => {},
  ),
  'tasks/list': scenario(
    (target) => made(target, '1', 'legacy'),
    (target) => target.legacy('tasks/list', {}),
    (again) => expect(again.result.tasks).toHaveLength(1),
  ),
  'subscriptions/listen': scenario(
    (target) => made(target, '1'),
    (target, taskId) => target.modern('subscriptions/listen', { notifications: { taskIds: [taskId] } }),
    (again) => expect(again.result.resultType).toBe('complete'),
  ),
  get_task_result: scenario(
    (target) => made(target, '1'),
    (target, taskId) =>
      target.modern('tools/call', { name: 'get_task_result', arguments: { taskId, waitSeconds: 1 } }, {}),
    (again) => expect(again.result.structuredContent.status).toBe('completed'),
  ),
  cancel_task: scenario(
    (target) => made(target, asking),
    (target, taskId) => target.modern('tools/call', { name: 'cancel_task', arguments: { taskId } }, {}),
    (again) => expect(again.result.structuredContent.status).toBe('cancelled'),
  ),
  'logging/setLevel': scenario(nothing, (target) => target.legacy('logging/setLevel', { level: 'info' }), hasResult),
  initialize: scenario(nothing, (target) => target.initialize(), hasResult),
  'the stream of a session': scenario(
    async (target) => target.legacy('tasks/get', { taskId: await made(target, asking, 'legacy') }),
    (target) => target.get(),
    () => {},
  ),
  'an answer to a question on a stream': scenario(
    async (target) => questionIn(await target.legacy('tasks/result', { taskId: await made(target, asking, 'legacy') })),
    (target, id) => target.answer(id, yes),
    (_again, { records }) => expect(records.all().at(-1)?.round).toBe(2),
  ),
};

const questionIn = ({ text }: WireAnswer): string => /"id":"([\w.-]+)","method":"elicitation/.exec(text)?.[1] ?? '';

/** The answer, or the last message of a stream that ended before it. */
function lastOf({ text }: WireAnswer): Body {
  const json = text.startsWith('{') ? text : `{${text.split('data: {').at(-1)?.split('\n')[0]}`;
  return json.endsWith('}') ? JSON.parse(json) : {};
}

/** A client that is refused must be able to try again, and learn nothing of the inside. */
function judge(answer: WireAnswer, records: TaskRecord[], halfDone: HalfDone): void {
  expect(internalsIn(answer, ['table/', '123456789012'])).toEqual([]);
  const { error } = lastOf(answer);
  if (error === undefined) return;
  expect(error.code).toBe(-32603);
  expect(error.message).toMatch(/try again|ask for it again/);
  // Without an id, as of a posted answer, HTTP is all there is to say it. A refused start says when to come back.
  const status = error.message.startsWith('Too many tasks are started') ? 429 : 'id' in lastOf(answer) ? 200 : 500;
  expect([answer.status, answer.headers['retry-after']]).toEqual([status, status === 429 ? '5' : undefined]);
  // An error that says to ask for the task does not say to make another.
  if (error.message.includes('try again')) expect(halfDone(records)).toEqual([]);
}

describe.each(Object.entries(SCENARIOS))('%s', (_name, { prepare, request, then, halfDone = () => [] }) => {
  async function strike(which: (call: number) => boolean) {
    const target = await newTarget();
    const prepared = (await prepare(target)) as never;
    target.failing(which);
    const answer = await request(target, prepared);
    const calls = target.calls();
    judge(answer, target.records.all(), halfDone);
    target.failing(() => false);
    const again = lastOf(await request(target, prepared));
    await then(again, target);
    return { calls, answer };
  }

  test('while AWS throttles: an error that says to retry, then it works (A-15, rows 1 and 2)', async () => {
    const { calls } = await strike(() => false);
    expect(calls).toBeGreaterThan(0);
    for (let at = 1; at <= calls; at++) {
      // In the middle of a long wait, all calls are the same read.
      if (at > EACH && at < calls - EACH && at % EACH !== 0) continue;
      await strike((call) => call === at);
      await strike((call) => call >= at);
    }
  });
});

test('a read that fails while a call waits does not lose its result', async () => {
  const target = await newTarget();
  const call = () => target.modern('tools/call', { name: 'optional', arguments: { json: '{"n":1}' } }, {});
  target.failing(() => false);
  await call();
  const reads = target.calls();
  expect(reads).toBeGreaterThan(2);
  // The last call of all reads the result: for some time it fails.
  target.failing((at) => at >= reads && at < reads + 10);
  expect(lastOf(await call()).result.structuredContent).toEqual({ n: 1 });
  expect(target.calls()).toBe(reads + 10);
});
