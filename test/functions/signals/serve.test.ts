import { expect, test } from 'vitest';
import { RecordUnknown } from '../../../functions/tasks/errors.ts';
import { limits } from '../../../functions/tasks/limits.ts';
import { cancel } from '../../../functions/tasks/transitions/end.ts';
import { FORGED, guess } from './guesses.ts';
import { DAY, LINK, linkOf, setup, T0, webhookOf, YES } from './support.ts';

const SCHEMA = { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } };

test('URLs that this server has not made, of each kind: one answer, few reads, no change', async () => {
  await guess(8 * 43);
});

test.each([
  ['a place that is too short', { place: 'abc' }],
  ['a place of other letters', { place: '#'.repeat(22) }],
  ['a key that is too short', { mac: 'abc' }],
  ['no name', { name: '' }],
])('a path with %s is 404 without a read', async (_what, more) => {
  const { taskWith, pathOf, ask, did } = setup();
  const path = pathOf(await taskWith({ a: LINK }), 'a');
  did.length = 0;
  expect((await ask({ ...path, ...more })).status).toBe(404);
  expect(did).toEqual([]);
});

test.each([
  ['no record', { owner: 'owner#a1', taskId: 'x'.repeat(36) }, ['readPlace', 'get']],
  ['a partition of reports', { owner: 'progress#owner#a1', taskId: 'x'.repeat(36) }, ['readPlace']],
  ['an item that is no task', { owner: 'owner#a1', taskId: '#slots#1' }, ['readPlace']],
])('a place that a tool points to %s is 404', async (_what, key, reads) => {
  const { taskWith, pathOf, forge, ask, did } = setup();
  const right = pathOf(await taskWith({ a: LINK }), 'a');
  await forge(FORGED, key);
  did.length = 0;
  expect((await ask({ ...right, place: FORGED })).status).toBe(404);
  expect(did).toEqual(reads);
});

test('a tool cannot take the place of the links of another task', async () => {
  const { taskWith, pathOf, forge, get } = setup();
  const [task, own] = [await taskWith({ a: LINK }), await taskWith({ a: LINK })];
  await forge(pathOf(task, 'a').place, own);
  expect((await get(task)).status).toBe(200);
});

test.each(['k'.repeat(22), 'x'.repeat(22)])('a task of an older release has no key, not even %s', async (hookKey) => {
  const { taskWith, get, engine } = setup();
  const task = await taskWith({ a: LINK }, { hookKey });
  const { hookKey: _, ...old } = engine.records.get(task.taskId) ?? task;
  engine.records.set(old);
  expect((await get(task)).status).toBe(404);
});

test.each([...'0123456789'].map((n) => `name ${n} naïve/鍵 🔑..`))('any name opens its wait: %s', async (name) => {
  const { taskWith, json } = setup();
  expect((await json(await taskWith({ [name]: LINK }), YES, name)).status).toBe(200);
});

test('a GET or HEAD changes nothing, however often a mail scanner sends it', async () => {
  const { taskWith, get, ask, pathOf, engine, did } = setup();
  const task = await taskWith({ a: LINK });
  const before = JSON.stringify([...engine.table.items()]);
  did.length = 0;
  for (let i = 0; i < 100; i++) {
    expect((await get(task)).status).toBe(200);
    expect(await ask(pathOf(task, 'a'), { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
  }
  expect(new Set(did)).toEqual(new Set(['readPlace', 'get', 'readEntry']));
  expect(JSON.stringify([...engine.table.items()])).toBe(before);
});

test.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'])('%s is 405, before anything is read', async (method) => {
  const { taskWith, ask, pathOf, did } = setup();
  const path = pathOf(await taskWith({ a: LINK }), 'a');
  did.length = 0;
  expect(await ask(path, { method })).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD, POST' } });
  expect(did).toEqual([]);
});

test('a webhook takes POST only', async () => {
  const { taskWith, get } = setup();
  expect(await get(await taskWith({ a: webhookOf() }))).toMatchObject({ status: 405, headers: { allow: 'POST' } });
});

test('a body beyond 32 KB is 413, before anything is read; one of 32 KB is taken', async () => {
  const { taskWith, json, did } = setup();
  const task = await taskWith({ a: webhookOf() });
  did.length = 0;
  const most = limits.signal.body;
  expect((await json(task, `"${'x'.repeat(most - 1)}"`)).status).toBe(413);
  expect(did).toEqual([]);
  expect((await json(task, `"${'x'.repeat(most - 2)}"`)).status).toBe(200);
});

test.each([
  ['neither JSON nor a form', 415, 'x', 'text/plain'],
  ['without a type', 415, '{}', ''],
  ['not JSON', 400, '{', 'application/json'],
  ['nested too deep', 400, '['.repeat(65) + ']'.repeat(65), 'application/json'],
  ['a list', 400, '[]', 'application/json'],
  ['of another action', 422, '{"action":"approve"}', 'application/json'],
  ['without a required field', 422, '{"action":"accept","content":{}}', 'application/json'],
  ['with content that is no object', 422, '{"action":"accept","content":5}', 'application/json'],
  ['with an inherited field', 422, '{"action":"accept","content":{"__proto__":{"ok":true}}}', 'application/json'],
  ['with a long name', 422, JSON.stringify({ ...YES, by: 'x'.repeat(101) }), 'application/json'],
  ['with a name that is no text', 422, JSON.stringify({ ...YES, by: { a: 1 } }), 'application/json'],
])('an answer %s is %i, and the wait stays open', async (_what, status, body, type) => {
  const { taskWith, json, stored } = setup();
  const task = await taskWith({ a: LINK });
  const before = stored(task);
  expect((await json(task, body, 'a', type)).status).toBe(status);
  expect(stored(task)).toEqual(before);
  expect((await json(task, YES)).status).toBe(200);
});

test('a body that does not fit its schema is 422 with its fields, and the wait stays open', async () => {
  const { taskWith, json, stored } = setup();
  const task = await taskWith({ a: webhookOf(SCHEMA) });
  const { status, body } = await json(task, { id: 'x' });
  expect([status, JSON.parse(body)]).toEqual([
    422,
    { error: 'The body does not fit its schema', fields: { '/id': 'must be integer' } },
  ]);
  expect(stored(task).inputResponses).toEqual({});
  expect((await json(task, { id: 1 }, 'a', 'application/cloudevents+json; charset=utf-8')).status).toBe(200);
  expect(stored(task).inputResponses).toEqual({
    'w.a': JSON.stringify({ round: 1, signal: { body: { id: 1 }, at: T0 } }),
  });
});

test('a body names every field that does not fit, also what is missing and what is too much', async () => {
  const { taskWith, json } = setup();
  const text = { type: 'string' };
  const [properties, required] = [{ id: { type: 'integer' }, a: text, b: text }, ['id', 'a', 'b']];
  const schema = { type: 'object', properties, required, additionalProperties: false };
  const { status, body } = await json(await taskWith({ a: webhookOf(schema) }), { id: 'x', c: 1 });
  expect([status, JSON.parse(body).fields]).toEqual([
    422,
    {
      '/id': 'must be integer',
      '/a': "must have required property 'a'",
      '/b': "must have required property 'b'",
      '/c': 'must NOT have additional properties',
    },
  ]);
  const list = { type: 'array', items: { type: 'integer' } };
  const long = await json(await taskWith({ a: webhookOf(list) }), Array(5_000).fill('x'));
  expect([long.status, Object.keys(JSON.parse(long.body).fields).length]).toEqual([422, 50]);
});

test('a machine that names no type gets its refusal as JSON, a browser as a page', async () => {
  const { taskWith, ask, pathOf } = setup();
  const path = pathOf(await taskWith({ a: webhookOf() }), 'a');
  const types = await Promise.all(
    [{}, { accept: '*/*' }, { accept: 'text/html,*/*' }].map(async (headers) => {
      const reply = await ask(path, { method: 'POST', headers, body: '{}' });
      return [reply.status, reply.headers['content-type']];
    }),
  );
  expect(types).toEqual([
    [415, 'application/json'],
    [415, 'application/json'],
    [415, 'text/html; charset=utf-8'],
  ]);
});

test('a schema that cannot be compiled keeps no request out', async () => {
  const { taskWith, json } = setup();
  expect((await json(await taskWith({ a: webhookOf({ type: 'nothing' }) }), { id: 1 })).status).toBe(200);
});

test('the same request again gets the same answer, another one 410', async () => {
  const { taskWith, json, form, pass, stored } = setup();
  const task = await taskWith({ a: LINK, b: webhookOf(SCHEMA) });
  for (const [name, body, other] of [
    ['a', YES, { action: 'decline' }],
    ['b', { id: 1 }, { id: 2 }],
  ] as const) {
    const first = await json(task, body, name);
    pass(1_000);
    expect(first.status).toBe(200);
    expect(await json(task, body, name)).toEqual(first);
    expect((await json(task, other, name)).status).toBe(410);
    expect((await json(task, '{', name)).status).toBe(410);
  }
  expect((await form(task, { action: 'accept', f0: 'true', by: 'Ann' })).status).toBe(200);
  const late = await form(task, { action: 'decline', by: 'Bob' });
  expect([late.status, late.body]).toEqual([
    410,
    expect.stringMatching(/<strong>Accepted<\/strong> by <bdi>Ann<\/bdi> on /),
  ]);
  expect(stored(task).signalled).toEqual(['a', 'b']);
});

test.each([
  ['its wait is over', ({ pass }: ReturnType<typeof setup>) => pass(DAY)],
  [
    'its task has ended',
    ({ engine, ...set }: ReturnType<typeof setup>, task: never) => engine.store.apply(task, cancel(set.context.now())),
  ],
  ['its task has passed its deadline', ({ pass }: ReturnType<typeof setup>) => pass(301 * DAY)],
])('a link is 410 with its page when %s, to each request', async (_what, end) => {
  const set = setup();
  const task = await set.taskWith({ a: LINK });
  await end(set, task as never);
  const before = set.stored(task);
  for (const reply of [await set.get(task), await set.form(task, { action: 'decline' })]) {
    expect([reply.status, reply.body]).toEqual([410, expect.stringContaining('This is over')]);
  }
  expect((await set.json(task, YES)).status).toBe(410);
  expect((await set.json(task, '{')).status).toBe(410);
  expect(set.stored(task)).toEqual(before);
});

test('a wait whose name the tool has not stored, or stored in another form, is 404', async () => {
  const { taskWith, get, engine } = setup();
  const task = await taskWith({ a: { kind: 'time', until: T0 + DAY }, url: linkOf({}) });
  expect((await get(task, 'a')).status).toBe(404);
  expect((await get(task, 'b')).status).toBe(404);
  expect(engine.records.get(task.taskId)?.status).toBe('waiting');
});

test('each answer tells programs to keep no copy, frame nothing and run nothing', async () => {
  const { taskWith, get, json, ask } = setup();
  const task = await taskWith({ a: LINK });
  const replies = [await get(task), await ask({}), await json(task, '{'), await json(task, YES), await get(task)];
  for (const { headers } of replies) {
    expect(headers).toMatchObject({
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; frame-ancestors 'none'/,
      ),
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-robots-tag': 'noindex, nofollow',
    });
  }
});

test('an outage is 503 with Retry-After and no details; the log has no URL and no name', async () => {
  const { taskWith, json, context, logged, pathOf } = setup();
  const task = await taskWith({ secretname: LINK });
  const broken = [
    () => Object.assign(new Error('arn:aws:dynamodb:x:table/y'), { name: 'ProvisionedThroughputExceededException' }),
    () => new RecordUnknown(task.taskId),
  ];
  for (const error of broken) {
    Object.assign(context, { store: { ...context.store, get: () => Promise.reject(error()) } });
    const { status, headers, body } = await json(task, YES, 'secretname');
    expect([status, headers['retry-after']]).toEqual([503, '5']);
    expect(body).toBe('{"error":"The server cannot do this at the moment: try again in a few seconds"}');
  }
  expect(JSON.stringify(logged)).not.toMatch(/secretname|table\/y/);
  expect(JSON.stringify(logged)).not.toContain(pathOf(task, 'secretname').mac);
});
