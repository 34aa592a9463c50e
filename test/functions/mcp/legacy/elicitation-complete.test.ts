import { expect, test, vi } from 'vitest';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { ResultStoreError } from '../../../../functions/tasks/results/result-store.ts';
import { signalUrl } from '../../../../functions/tasks/waits/signal-url.ts';
import { signalKey } from '../../../../functions/tasks/waits/signals.ts';
import { ALL_KINDS } from '../support/fake-server.ts';
import { legacyServer } from '../support/legacy-server.ts';

const SECOND = 1_000;
const COMPLETE = 'notifications/elicitation/complete';
const ACCEPT = { action: 'accept' };
const signal = (name: string, more: object = { action: 'accept', content: {}, at: 1 }) => ({
  [signalKey(name)]: JSON.stringify({ round: 2, signal: more }),
});

/** A task that gives its link `approval`, or another URL, to its client, and waits for it. Times are in seconds. */
function setup() {
  const here = legacyServer();
  const record = (taskId: string) => here.records.get(taskId) as TaskRecord;
  const ask = (taskId: string, url?: string, more: object = {}) => {
    const link = signalUrl({ url: 'https://mcp.example/signals', key: record(taskId).hookKey ?? '' }, 'approval');
    const params = { mode: 'url', message: 'Approve', url: url ?? link, ...more };
    const asked = JSON.stringify({ inputRequests: { open: { method: 'elicitation/create', params } } });
    here.change(taskId, { status: 'input_required', asked, accepts: ALL_KINDS, arguments: '{}' });
  };
  return {
    ...{ ...here, ask },
    at: (seconds: number, run: () => unknown) => here.at(seconds * SECOND, run),
    /** The signals come, as the functions of the server write them. */
    come: (taskId: string, signals: object) =>
      here.change(taskId, { inputResponses: { ...record(taskId).inputResponses, ...signals } }),
    waits: (taskId: string) =>
      here.change(taskId, {
        status: 'waiting',
        waits: JSON.stringify({ approval: { kind: 'link', until: here.now() + 3_600_000 } }),
      }),
    finish: (taskId: string) => here.change(taskId, { status: 'completed', result: '{"n":1}', inputResponses: {} }),
  };
}
type Client = Awaited<ReturnType<ReturnType<typeof setup>['session']>>;
const answering =
  (client: Client) =>
  ({ id, method }: { id?: unknown; method?: string }) =>
    method === 'elicitation/create' ? client.respond(id, ACCEPT) : undefined;
const methodsOf = (messages: readonly { method?: string }[]) => messages.map(({ method }) => method ?? 'the answer');

test.each([
  ['is answered', signal('approval')],
  ['is over', signal('approval', { timedOut: true })],
])('a link given to the client %s: it hears so on its stream, under the same id (B-18)', async (_how, it) => {
  const { session, ask, at, come, waits, finish } = setup();
  const client = await session();
  const taskId = await client.create();
  ask(taskId);
  at(3, () => waits(taskId));
  at(10, () => come(taskId, it));
  at(20, () => finish(taskId));
  const { messages } = await client.request('tasks/result', { taskId }, answering(client));
  expect(methodsOf(messages)).toEqual(['elicitation/create', COMPLETE, 'the answer']);
  const { elicitationId } = messages[0].params;
  expect(elicitationId).toMatch(new RegExp(`^${taskId}\\.[\\w-]{5}$`));
  expect(messages[1]).toEqual({ jsonrpc: '2.0', method: COMPLETE, params: { elicitationId } });
});

test('a client that resumes its stream later hears it all the same, once (B-09, B-18)', async () => {
  const { session, ask, at, come, waits, finish } = setup();
  const client = await session();
  const taskId = await client.create();
  ask(taskId);
  at(3, () => waits(taskId));
  at(70, () => come(taskId, signal('approval')));
  at(130, () => finish(taskId));
  const first = await client.request('tasks/result', { taskId }, answering(client));
  const second = await client.resume(first.lastId);
  const third = await client.resume(second.lastId);
  expect([first, second, third].map(({ messages }) => methodsOf(messages))).toEqual([
    ['elicitation/create'],
    [COMPLETE],
    ['the answer'],
  ]);
});

test('at the latest it comes right before the answer, also on the stream of a plain call (B-18)', async () => {
  const { session, ask, at, records, finish } = setup();
  const client = await session();
  const taskId = () => records.ids()[0] ?? '';
  at(1, () => ask(taskId()));
  at(9, () => finish(taskId()));
  const { messages } = await client.request('tools/call', { name: 'optional' }, answering(client));
  expect(methodsOf(messages)).toEqual(['elicitation/create', COMPLETE, 'the answer']);
});

test('a link that is answered before the client says yes: it hears so once (B-18)', async () => {
  const { session, ask, at, come, finish } = setup();
  const client = await session();
  const taskId = await client.create();
  ask(taskId);
  at(5, () => come(taskId, signal('approval')));
  at(20, () => finish(taskId));
  const { messages } = await client.request('tasks/result', { taskId });
  expect(methodsOf(messages)).toEqual(['elicitation/create', COMPLETE, 'the answer']);
});

test.each<[string, string | undefined, object]>([
  ['another URL', 'https://shop.example/login', {}],
  ['a link of another task', signalUrl({ url: 'https://mcp.example/signals', key: 'x' }, 'approval'), {}],
  ["a link under the tool's own elicitationId", undefined, { elicitationId: 'mine' }],
])('%s: the server does not know when it is over (B-18)', async (_what, url, more) => {
  const { session, ask, at, come, waits, finish } = setup();
  const client = await session();
  const taskId = await client.create();
  ask(taskId, url, more);
  at(3, () => waits(taskId));
  at(10, () => come(taskId, signal('approval')));
  at(20, () => finish(taskId));
  const { messages } = await client.request('tasks/result', { taskId }, answering(client));
  expect(methodsOf(messages)).toEqual(['elicitation/create', 'the answer']);
});

test('a client that was not given the link, or opens no URLs, hears nothing of it (B-18)', async () => {
  const { session, ask, at, come, waits, finish } = setup();
  const taskIds: string[] = [];
  const streams = [];
  for (const capabilities of [undefined, { elicitation: { form: {} } }]) {
    const client = await session(capabilities);
    const taskId = await client.create();
    taskIds.push(taskId);
    if (capabilities !== undefined) ask(taskId);
    streams.push(() => client.request('tasks/result', { taskId }));
  }
  at(3, () => taskIds.map(waits));
  at(10, () => taskIds.map((taskId) => come(taskId, signal('approval'))));
  at(20, () => taskIds.map(finish));
  for (const stream of await Promise.all(streams.map((open) => open()))) {
    expect(methodsOf(stream.messages)).toEqual(['the answer']);
  }
});

test('answers in S3 that cannot be read for a while delay it, and end no stream (B-18)', async () => {
  const logged = vi.spyOn(console, 'error').mockReturnValue(undefined);
  const { session, ask, at, change, elapsed, waits, server, finish } = setup();
  const client = await session();
  const taskId = await client.create();
  ask(taskId);
  const whole = async (record: TaskRecord) => {
    if (record.inputRef === undefined) return record;
    if (elapsed() < 10 * SECOND) throw new ResultStoreError('read', 'SlowDown');
    return { ...record, inputResponses: signal('approval') };
  };
  Object.assign(server, { inputs: { ...server.inputs, whole } });
  at(3, () => waits(taskId));
  at(5, () => change(taskId, { inputRef: '{"sha256":"x","bytes":1}', inputResponses: {} }));
  at(20, () => finish(taskId));
  const toldAt: number[] = [];
  const { messages } = await client.request('tasks/result', { taskId }, (message) => {
    if (message.method === COMPLETE) toldAt.push(elapsed());
    return answering(client)(message);
  });
  expect(methodsOf(messages)).toEqual(['elicitation/create', COMPLETE, 'the answer']);
  expect(toldAt[0]).toBeGreaterThanOrEqual(10 * SECOND);
  expect(toldAt[0]).toBeLessThan(12 * SECOND);
  expect(logged).toHaveBeenCalled();
  logged.mockRestore();
});
