import { expect, test } from 'vitest';
import { limits } from '../../../../../functions/tasks/limits.ts';
import { EVENTS_TOOLS, SEP } from '../support.ts';
import { postingServer, tasksOf } from './posting-server.ts';

const listed = async () => (await postingServer().call('events/list')).result;
const descriptors = async (): Promise<Record<string, unknown>[]> => (await listed()).events;
const capabilities = async () => (await postingServer().call('server/discover')).result.capabilities;

test('capability-events-object', async () => {
  const { events, extensions } = await capabilities();
  expect([events, extensions['io.modelcontextprotocol/events']]).toEqual([{}, {}]);
});

test('capability-list-changed-flag', async () => {
  // No notification is sent, so none is promised.
  const { events, extensions } = await capabilities();
  expect({ ...events, ...extensions['io.modelcontextprotocol/events'] }).not.toHaveProperty('listChanged');
});

test('list-implemented', async () => expect((await descriptors()).length).toBeGreaterThan(0));

test('list-pagination', async () => {
  expect(await listed()).not.toHaveProperty('nextCursor');
  expect((await postingServer().call('events/list', { cursor: 'of no page' })).error.code).toBe(-32602);
});

test('descriptor-name', async () =>
  expect((await descriptors()).map(({ name }) => name)).toEqual(['task.finished', 'task.asks']));

test('descriptor-description', async () => {
  for (const { description } of await descriptors()) expect(description).toMatch(/^A task of the caller /);
});

test('descriptor-delivery-subset', async () => {
  for (const { delivery } of await descriptors()) expect(delivery).toEqual(['webhook', 'poll']);
});

test('descriptor-input-schema', async () => {
  for (const { inputSchema } of await descriptors()) expect(inputSchema).toMatchObject({ type: 'object' });
});

test('descriptor-payload-schema', async () => {
  for (const { payloadSchema } of await descriptors()) expect(payloadSchema).toMatchObject({ type: 'object' });
});

test('descriptor-meta', async () => {
  for (const descriptor of await descriptors()) expect(descriptor).not.toHaveProperty('_meta');
});

test('schema-evolution-additive', async () => {
  // Of the first release. A later one may have more of these, all of them optional.
  const [finished, asks] = (await descriptors()) as [Record<string, object>, Record<string, object>];
  const text = { type: 'string' };
  expect(finished).toMatchObject({
    inputSchema: { properties: { taskId: text, tool: text, status: text } },
    payloadSchema: {
      properties: {
        ...{ taskId: text, tool: text, status: text, isError: { type: 'boolean' }, reason: text, next: text },
        ...{ createdAt: text, finishedAt: text },
      },
      required: ['taskId', 'tool', 'status', 'createdAt', 'finishedAt', 'next'],
    },
  });
  expect(asks).toMatchObject({
    inputSchema: { properties: { taskId: text, tool: text } },
    payloadSchema: {
      properties: { taskId: text, tool: text, askedAt: text, answerBy: text, next: text },
      required: ['taskId', 'tool', 'askedAt', 'next'],
    },
  });
  for (const { inputSchema } of [finished, asks]) expect(inputSchema).not.toHaveProperty('required');
});

test('removal-additive-no-terminate', async () => {
  const { server, subscribed, ends, deliverAll } = postingServer();
  await subscribed({ arguments: { tool: 'optional' } });
  const more = EVENTS_TOOLS.map((tool) => ({ ...tool, name: `${tool.name}-2` }));
  Object.assign(server, { manifest: { ...server.manifest, tools: [...EVENTS_TOOLS, ...more] } });
  await ends(1, { tool: 'optional' });
  expect(tasksOf(await deliverAll())).toEqual(['t1']);
});

test('removal-poll-not-found', async () => {
  const { error } = await postingServer().polled({ name: 'task.gone' });
  expect(error).toMatchObject({ code: -32011, message: 'NotFound', data: { kind: 'event' } });
});

test('error-invalid-params', async () => {
  const { subscribed } = postingServer();
  const answers = [
    await subscribed({ arguments: { tool: 'no' } }),
    await subscribed({}, { url: 'http://receiver.example/' }),
    await subscribed({}, { secret: 'whsec_' }),
  ];
  expect(answers.map(({ error }) => error.code)).toEqual([-32602, -32602, -32602]);
});

test('error-not-found', async () => {
  const { call, subscription, subscribed } = postingServer();
  const { error } = await subscribed({ name: 'no' });
  expect(error).toMatchObject({ code: -32011, data: { kind: 'event' } });
  const unknown = await call('events/unsubscribe', subscription(), SEP);
  expect(unknown.error).toMatchObject({ code: -32023, data: { kind: 'subscription' } });
});

test('error-forbidden', async () => {
  const { subscribed, caller } = postingServer();
  const { error } = await subscribed({ arguments: { tool: 'required' } }, {}, {}, { ...caller, scopes: [] });
  expect(error).toMatchObject({ code: -32012, message: 'Forbidden', data: { scopes: ['ops'] } });
});

test('error-resource-exhausted', async () => {
  const { subscribed, clock } = postingServer();
  const max = limits.mcpEvents.subscriptions;
  const next = (n: number) => {
    clock.now += 1_000;
    return subscribed({}, { url: `https://receiver.example/${n}` });
  };
  for (let n = 0; n < max; n++) expect((await next(n)).error).toBeUndefined();
  const { error } = await next(max);
  expect(error).toMatchObject({ code: -32013, message: 'ResourceExhausted', data: { limit: 'subscriptions', max } });
});

test('error-unsupported', async () => {
  const { error } = await postingServer().subscribed({}, { mode: 'push' });
  expect(error).toMatchObject({ code: -32014, data: { feature: 'deliveryMode', value: 'push' } });
});

test('error-callback-endpoint-error', async () => {
  const { subscribed, receiver } = postingServer();
  receiver.refuses = 'tls_error';
  expect((await subscribed()).error).toMatchObject({ code: -32015, data: { reason: 'tls_error' } });
});

test('error-server-range', async () => {
  for (const options of [{}, SEP]) {
    const { error } = await postingServer().subscribed({ name: 'no' }, {}, options);
    expect(error.code).toBeGreaterThanOrEqual(-32099);
    expect(error.code).toBeLessThanOrEqual(-32000);
  }
});
