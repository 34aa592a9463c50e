import { expect, test } from 'vitest';
import { resumeRound } from '../../../functions/engine/resume.ts';
import { RecordUnknown } from '../../../functions/tasks/errors.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { measured } from '../../../functions/tasks/results/result-ref.ts';
import { receive } from '../../../functions/tasks/transitions/waits.ts';
import { DAY, FORM, LINK, linkOf, setup, T0, webhookOf, YES } from './support.ts';

const saysOf = ({ status, body }: { readonly status: number; readonly body: string }) => [status, JSON.parse(body)];
const OVER = [410, { error: 'This is over' }];
const ANSWERED = [410, { error: 'This was answered already' }];

test('a signal that is stored is acknowledged with its time, and costs three reads and one write', async () => {
  const { taskWith, json, did } = setup();
  const task = await taskWith({ a: LINK, b: webhookOf() });
  did.length = 0;
  const received = [200, { received: true, at: new Date(T0).toISOString() }];
  expect(saysOf(await json(task, YES))).toEqual(received);
  expect(did).toEqual(['readPlace', 'get', 'readEntry', 'applyBlind']);
  expect(saysOf(await json(task, { id: 1 }, 'b'))).toEqual(received);
});

test('another signal learns whether the wait was answered, or is over', async () => {
  const { taskWith, json, form, get, pass, stored, engine, context } = setup();
  const task = await taskWith({ a: LINK, b: webhookOf({ type: 'object' }), c: LINK });
  await json(task, YES);
  await json(task, {}, 'b');
  const wrong = { action: 'accept', content: {} };
  for (const body of [{ action: 'decline' }, wrong, '{']) expect(saysOf(await json(task, body))).toEqual(ANSWERED);
  for (const body of [{ id: 1 }, [], '{']) expect(saysOf(await json(task, body, 'b'))).toEqual(ANSWERED);
  pass(DAY);
  for (const body of [YES, wrong, '{']) expect(saysOf(await json(task, body, 'c'))).toEqual(OVER);
  const started = await resumeRound(stored(task), { ...context, ...engine, toolEngine: () => 'standard' });
  expect(started).toBe('started');
  // The task knows now that none came.
  expect(saysOf(await json(task, YES, 'c'))).toEqual(OVER);
  for (const reply of [await get(task, 'c'), await form(task, { action: 'accept', f0: 'x' }, 'c')]) {
    expect([reply.status, reply.body]).toEqual([410, expect.stringContaining('This is over')]);
  }
});

test('a webhook whose time is over refuses each body, also one that does not fit', async () => {
  const { taskWith, json, pass } = setup();
  const task = await taskWith({ a: webhookOf({ type: 'object' }) });
  pass(DAY);
  for (const body of [{}, [], '{']) expect(saysOf(await json(task, body))).toEqual(OVER);
});

test.each(['form', 'json'] as const)('a %s that loses a race with another answer gets that one', async (kind) => {
  const { taskWith, json, form, context, engine, stored } = setup();
  const task = await taskWith({ a: LINK });
  const first = { round: 1, signal: { action: 'decline', by: 'Bob', at: T0 } } as const;
  const store = {
    ...engine.store,
    async applyBlind(record: TaskRecord) {
      await engine.store.applyBlind(record, receive(stored(task), 'a', first, T0));
      return false;
    },
  };
  Object.assign(context, { store });
  const reply = kind === 'form' ? await form(task, { action: 'accept', f0: 'true' }) : await json(task, YES);
  if (kind === 'json') expect(saysOf(reply)).toEqual(ANSWERED);
  else
    expect([reply.status, reply.body]).toEqual([410, expect.stringContaining('<strong>Declined</strong> by <bdi>Bob')]);
});

test('an answer by JSON gets JSON, and a form gets a page', async () => {
  const { taskWith, json, form } = setup();
  const task = await taskWith({ a: LINK, b: LINK });
  const required = { error: 'The answer does not fit the question', fields: { ok: 'This is required' } };
  expect(saysOf(await json(task, { action: 'accept', content: {} }))).toEqual([422, required]);
  const refused = await form(task, { action: 'accept' });
  expect([refused.status, refused.headers['content-type']]).toEqual([422, 'text/html; charset=utf-8']);
  const answered = await form(task, { action: 'accept', f0: 'true' }, 'b');
  expect([answered.status, answered.body]).toEqual([200, expect.stringContaining('<strong>Accepted</strong>')]);
});

test.each([
  ['of another type', 415, { error: 'Content-Type must be application/json' }, '{}', 'text/plain'],
  ['that is not JSON', 400, { error: 'The body is not valid JSON' }, '{'],
  ['too deep', 400, { error: 'JSON is nested 64 levels deep at most' }, '['.repeat(65) + ']'.repeat(65)],
  ['too long', 413, { error: 'A body has 32000 bytes at most' }, `"${'x'.repeat(32_767)}"`],
  ['that is a list', 400, { error: 'The body is an object with the members action, content and by' }, '[]'],
  [
    'with another action',
    422,
    {
      error: 'The answer does not fit the question',
      fields: { action: "action must be 'accept', 'decline' or 'cancel'" },
    },
    '{"action":"x"}',
  ],
  [
    'with content that is no object',
    422,
    { error: 'The answer does not fit the question', fields: { content: 'must be an object' } },
    '{"action":"accept","content":5}',
  ],
  [
    'with a long name',
    422,
    { error: 'The answer does not fit the question', fields: { by: 'A name has 100 characters at most' } },
    JSON.stringify({ ...YES, by: '🔑'.repeat(101) }),
  ],
])('an answer %s is refused, and why', async (_what, status, says, body, type = 'application/json') => {
  const { taskWith, json } = setup();
  expect(saysOf(await json(await taskWith({ a: LINK }), body, 'a', type))).toEqual([status, says]);
});

test('a name of 100 characters is taken, an empty one is none; content counts for accept only', async () => {
  const { taskWith, json, stored } = setup();
  const task = await taskWith({ a: LINK, b: LINK, c: linkOf({}) });
  const signalOf = (name: string) => JSON.parse(stored(task).inputResponses?.[`w.${name}`] ?? '').signal;
  await json(task, { ...YES, by: '🔑'.repeat(100) });
  expect(signalOf('a')).toEqual({ ...YES, by: '🔑'.repeat(100), at: T0 });
  await json(task, { action: 'decline', content: { ok: true }, by: '' }, 'b');
  expect(signalOf('b')).toEqual({ action: 'decline', at: T0 });
  await json(task, { action: 'accept' }, 'c');
  expect(signalOf('c')).toEqual({ action: 'accept', content: {}, at: T0 });
});

test('a body that is not what its schema says as a whole is named as /', async () => {
  const { taskWith, json } = setup();
  const says = { error: 'The body does not fit its schema', fields: { '/': 'must be object' } };
  expect(saysOf(await json(await taskWith({ a: webhookOf({ type: 'object' }) }), [1]))).toEqual([422, says]);
});

test('a body whose check takes too long is refused as such', async () => {
  const { taskWith, json } = setup();
  const task = await taskWith({ a: webhookOf({ type: 'string', pattern: '^(a+)+$' }) });
  // The problems of another body before it are not shown.
  const fields = { '/': 'must be string' };
  expect(saysOf(await json(task, [1]))).toEqual([422, { error: 'The body does not fit its schema', fields }]);
  const says = { error: 'The body does not fit its schema', fields: { '/': 'takes too long to check' } };
  expect(saysOf(await json(task, `"${'a'.repeat(60)}!"`))).toEqual([422, says]);
});

test('a wait that is too large for the table is read from S3, if it is the one that was stored', async () => {
  const { taskWith, get, engine, forgeEntry } = setup();
  const text = JSON.stringify(linkOf({ ok: { type: 'boolean', description: 'x'.repeat(5_000) } }));
  const { bytes, sha256 } = measured(text);
  const task = await taskWith({}, { works: true });
  await forgeEntry(task, { kind: 'wait', name: 'a', bytes, sha256 });
  const place = { owner: task.owner, taskId: task.taskId, entryValue: sha256 };
  await engine.objects.put(place, text);
  expect((await get(task)).status).toBe(200);
  await engine.objects.put(place, text.replace('x', 'y'));
  expect((await get(task)).status).toBe(404);
  engine.objects.objects.clear();
  expect((await get(task)).status).toBe(503);
});

test('what is not found, or not offered, says so', async () => {
  const { taskWith, ask, pathOf, get } = setup();
  const task = await taskWith({ a: webhookOf() });
  expect(saysOf(await ask({}))).toEqual([404, { error: 'There is nothing here. Is the link complete?' }]);
  expect(saysOf(await get(task))).toEqual([405, { error: 'Only POST can be used here' }]);
  const put = await ask(pathOf(task, 'a'), { method: 'PUT' });
  expect(saysOf(put)).toEqual([405, { error: 'Only GET, HEAD, POST can be used here' }]);
});

test('a signal for which its task has no room is 413', async () => {
  const { taskWith, json } = setup();
  const names = ['a', 'b', 'c', 'd', 'e'];
  const task = await taskWith(Object.fromEntries(names.map((name) => [name, webhookOf()])));
  const statuses = [];
  for (const name of names) statuses.push((await json(task, `"${'x'.repeat(31_998)}"`, name)).status);
  expect(statuses).toEqual([200, 200, 200, 200, 413]);
});

test('an outage is logged by its kind; a record of a newer release was logged by its reader', async () => {
  const { taskWith, json, context, logged } = setup();
  const task = await taskWith({ a: LINK });
  for (const error of [new RecordUnknown(task.taskId), Object.assign(new Error('x'), { name: 'Throttled' })]) {
    Object.assign(context, { store: { ...context.store, get: () => Promise.reject(error) } });
    expect((await json(task, YES)).status).toBe(503);
  }
  expect(logged).toEqual([['signal_failed', expect.objectContaining({ error: 'Throttled' })]]);
});

test.each([
  ['is longer than a wait may have', 'x'.repeat(65), LINK, 404],
  ['is as long as a wait may have', '🔑'.repeat(64), LINK, 200],
  [
    'has a question that no client knows',
    'a',
    { ...LINK, question: { method: 'x', params: { requestedSchema: {} } } },
    404,
  ],
  [
    'has a question without a form',
    'a',
    { ...LINK, question: { method: 'elicitation/create', params: { message: '?' } } },
    404,
  ],
  ['has a question without params', 'a', { ...LINK, question: { method: 'elicitation/create' } }, 404],
])('a link that %s opens, or does not', async (_what, name, wait, status) => {
  const { taskWith, get, forgeEntry } = setup();
  const task = await taskWith({}, { works: true });
  await forgeEntry(task, { kind: 'wait', name, value: JSON.stringify(wait) });
  expect((await get(task, name)).status).toBe(status);
});

test.each([
  ['application/json ; charset=utf-8', 200],
  ['x-application/json', 415],
  ['application/jsonx', 415],
])('the type %j of a body is %i', async (type, status) => {
  const { taskWith, json } = setup();
  expect((await json(await taskWith({ a: LINK }), YES, 'a', type)).status).toBe(status);
});

test('of two problems of a field the first one is shown, and a form gets a page', async () => {
  const { taskWith, json, ask } = setup();
  const schema = { type: 'string', minLength: 5, pattern: '^a' };
  const { body } = await json(await taskWith({ a: webhookOf({ properties: { x: schema } }) }), { x: 'b' });
  expect(JSON.parse(body).fields).toEqual({ '/x': expect.stringContaining('fewer than 5 characters') });
  for (const headers of [{ accept: 'text/html' }, { 'content-type': FORM }]) {
    const page = await ask({}, { method: 'POST', headers });
    expect(page.body).toContain('<h1>There is nothing here. Is the link complete?</h1>');
  }
});
