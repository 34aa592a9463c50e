import { globSync } from 'node:fs';
import { relative } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { newTaskKey } from '../../../functions/tasks/ids.ts';
import { progressStore } from '../../../functions/tasks/table/progress-item.ts';
import { taskStore } from '../../../functions/tasks/table/store.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';
import { ended, modernRequest, poll, runTask } from '../../support/clients.ts';
import { useAssembly, useCloud } from '../../support/cloud.ts';
import { dynamoDbOf } from '../../support/dynamodb.ts';
import { acting, send, type TestConsole, useConsole } from './console.ts';

const cloud = useCloud('assembly', { assembly: useAssembly('test/support/apps/operator-app.ts') });
const url = () => `${cloud().url}/mcp`;
const dev = useConsole(cloud);
const deployed = useConsole(cloud, 'Everything', false);
const reader = useConsole(cloud, 'Reader', false);
const SECRET = 'sesame-of-ann';

const get = ({ port, token }: TestConsole, path: string, headers = {}) => send(port, `/${token}/${path}`, { headers });
const post = (console_: TestConsole, route: string, body: object, headers: object = {}) =>
  send(console_.port, `/${console_.token}/api/${route}`, {
    ...{ method: 'POST', body },
    headers: Object.fromEntries(
      Object.entries({ ...acting(console_), ...headers }).filter(([, value]) => value !== undefined),
    ) as Record<string, string>,
  });
async function asking(): Promise<string> {
  const { body } = await modernRequest(url(), 'tools/call', { name: 'ask', arguments: { secret: SECRET } });
  await poll(url(), body.result.taskId, ({ status }) => status === 'input_required');
  return body.result.taskId;
}
const seen = async (taskId: string) => (await modernRequest(url(), 'tasks/get', { taskId })).body.result;

describe('the rights of a caller', () => {
  test('nothing is served without the token, not even the page', async () => {
    const { port, token } = dev();
    expect(Buffer.from(token, 'base64url').length * 8).toBeGreaterThanOrEqual(128);
    const wrong = `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`;
    for (const path of ['/', '/index.html', '/api/tasks', `/${wrong}/`, `/${wrong}/api/tasks`, `/${token}x/`, '//x/']) {
      expect((await send(port, path)).status, path).toBe(404);
    }
    expect((await get(dev(), '')).text).toContain('<main id="main">');
  });

  test('a name that was pointed at this machine is refused (DNS rebinding)', async () => {
    for (const host of ['evil.example', `evil.example:${dev().port}`, '127.0.0.1', '127.0.0.1:1']) {
      expect((await get(dev(), 'api/tasks', { host })).status, host).toBe(403);
    }
    expect((await get(dev(), 'api/tasks', { host: `localhost:${dev().port}` })).status).toBe(200);
  });

  test('another origin is refused, even with the token', async () => {
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'http://127.0.0.1:1' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
    ]) {
      expect((await get(dev(), 'api/tasks', headers)).status, JSON.stringify(headers)).toBe(403);
    }
  });

  test('an act needs the token in a header, its own origin, and a JSON body', async () => {
    const id = await asking();
    for (const headers of [
      { 'x-console-token': undefined },
      { 'x-console-token': 'guess' },
      { origin: undefined },
      { 'content-type': 'text/plain' },
      { 'content-type': undefined },
    ]) {
      expect((await post(dev(), 'cancel', { id }, headers)).status, JSON.stringify(headers)).toBe(403);
    }
    const query = await get(dev(), `api/cancel?id=${id}`);
    expect(query.status).toBe(404);
    expect(await seen(id)).toMatchObject({ status: 'input_required' });
  });

  test('every file of the page is served, and no other file beside them', async () => {
    const files = globSync('bin/console/page/**/*.{html,css,js,svg}').map((file) => relative('bin/console/page', file));
    expect(files.length).toBeGreaterThan(10);
    for (const file of [...files, 'lit-html.js']) expect((await get(dev(), file)).status, file).toBe(200);
    for (const file of ['tsconfig.json', 'lit-html.d.ts']) expect((await get(dev(), file)).status, file).toBe(404);
  });

  test('every answer keeps scripts, frames and referrers away', async () => {
    for (const path of ['', 'main.js', 'lit-html.js', 'api/server', 'none', '../index.ts', '..%2findex.ts']) {
      const { headers } = await get(dev(), path);
      expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'");
      expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
      expect(headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'x-content-type-options': 'nosniff' });
    }
    expect((await get(dev(), '../index.ts')).status).toBe(404);
    expect((await get(dev(), '..%2findex.ts')).status).toBe(404);
  });
});

describe('an answer', () => {
  let id: string;
  beforeAll(async () => {
    id = await asking();
  });

  test('a list and a task hold nothing that a client or a tool wrote', async () => {
    const list = await get(dev(), 'api/tasks?status=open&tool=ask');
    expect(list.json().tasks).toContainEqual(expect.objectContaining({ taskId: id, status: 'input_required' }));
    const task = await get(dev(), `api/task?id=${id}`);
    expect(task.json()).toMatchObject({
      explanation: { cause: 'asks, and gets no answer' },
      story: { taskId: id, status: 'input_required' },
      timeline: { open: true, lanes: [{ kind: 'round' }, { kind: 'question' }] },
    });
    for (const { text } of [list, task]) expect(text).not.toMatch(/sesame|Really/);
    const payload = (await get(dev(), `api/payload?id=${id}`)).json();
    expect(payload).toMatchObject({ arguments: { secret: SECRET }, questions: { 'r1.confirm': {} } });
  });

  test('a list holds what working tasks report, for half a read unit each; messages only in dev', async () => {
    const [db, table] = [dynamoDbOf(cloud(), 'administrator'), cloud().tables[0] ?? ''];
    const start = async () => {
      const now = Date.now();
      const task = { tool: 'steps', ttl: 3_600_000, timeout: 1_800_000, accepts: [], legacy: false };
      const record = create(newTaskKey({ kind: 'anonymous' }, now), task, now);
      await taskStore(db, table).create(record);
      const report = { message: SECRET, progress: 2, total: 7 };
      await progressStore(db, table).report({ ...record, deadline: record.deadlineAt }, report, now);
      return record.taskId;
    };
    const working = [await start(), await start()];
    const listed = async (console_: TestConsole) => {
      const mark = cloud().calls.mark();
      const { tasks } = (await get(console_, 'api/tasks?status=open')).json();
      const batches = cloud()
        .calls.since(mark)
        .filter(({ operation }) => operation === 'BatchGetItem');
      return { tasks, units: batches.map(({ consumed }) => consumed?.table) };
    };
    for (const [console_, message] of [
      [dev(), { message: SECRET }],
      [reader(), {}],
    ] as const) {
      const { tasks, units } = await listed(console_);
      // One batch of records, and one of the reports of working tasks.
      expect(units).toEqual([tasks.length / 2, working.length / 2]);
      const progress = { at: expect.any(Number), done: 2, of: 7, ...message };
      for (const taskId of working) expect(tasks).toContainEqual(expect.objectContaining({ taskId, progress }));
      expect(tasks.filter((row: { progress?: object }) => row.progress !== undefined)).toHaveLength(working.length);
    }
    for (const taskId of working) await post(dev(), 'cancel', { id: taskId });
    const { units } = await listed(dev());
    expect(units).toHaveLength(1);
  });

  test('log lines and the message of a report are read in dev only', async () => {
    const { taskId } = await runTask(url(), 'charge_then_crash', { file: `/nope/${SECRET}` });
    const { lines, hidden } = (await get(dev(), `api/logs?id=${taskId}`)).json();
    const threw = `Error: ENOENT: no such file or directory, open '/nope/${SECRET}'`;
    expect(lines).toContainEqual({ at: expect.any(Number), source: 'charge_then_crash', bad: true, text: threw });
    expect(hidden).toEqual([]);
    for (const console_ of [deployed(), reader()]) {
      const refused = await get(console_, `api/logs?id=${taskId}`);
      expect(refused).toMatchObject({ status: 400, text: expect.stringContaining('in dev only') });
      expect((await get(console_, `api/task?id=${taskId}`)).text).not.toContain(SECRET);
    }
    const { errors } = (await get(deployed(), `api/payload?id=${taskId}`)).json();
    expect(errors).toEqual([expect.objectContaining({ round: 1, error: 'Error', message: threw.slice(7) })]);
  });

  test('wrong filters and unknown ids are errors with a sentence', async () => {
    expect((await get(dev(), 'api/tasks?cursor=broken')).status).toBe(400);
    expect((await get(dev(), 'api/tasks?status=nope')).json().error).toContain('--status is open, ended, all');
    expect(await get(dev(), 'api/task?id=0000000000')).toMatchObject({
      status: 400,
      text: expect.stringContaining('No task'),
    });
  });

  test('with the read policy alone a payload and each act are refused, by the name of the policy', async () => {
    expect((await get(reader(), `api/task?id=${id}`)).json().story).toMatchObject({ status: 'input_required' });
    const refusals = [
      await get(reader(), `api/payload?id=${id}`),
      await post(reader(), 'cancel', { id, reason: 'INC-7' }),
      await post(reader(), 'answer', { id, reason: 'INC-7', answers: { 'r1.confirm': { action: 'decline' } } }),
    ];
    expect(refusals.map(({ status }) => status)).toEqual([403, 403, 403]);
    expect(refusals.map((reply) => reply.json().error)).toEqual(
      ['payload', 'act', 'payload'].map((name) =>
        expect.stringContaining(`The ${name} policy of the server allows it`),
      ),
    );
    for (const { text } of refusals) expect(text).not.toMatch(/sesame|Really/);
    expect(await seen(id)).toMatchObject({ status: 'input_required' });
  });
});

describe('an act', () => {
  test('a deployed server demands a reason, and the audit keeps who and why', async () => {
    const id = await asking();
    expect((await post(deployed(), 'cancel', { id })).json().error).toContain('give a reason');
    expect(await seen(id)).toMatchObject({ status: 'input_required' });
    expect((await post(deployed(), 'cancel', { id, reason: 'INC-7' })).json()).toMatchObject({ done: true });
    expect(await seen(id)).toMatchObject({ status: 'cancelled' });
    expect(deployed().acts.at(-1)).toMatchObject({ act: 'cancel', taskId: id, reason: 'INC-7', done: true });
    expect(deployed().acts.at(-1)?.who).toContain('Everything');
  });

  test("an answer is checked like a client's, and starts the next round", async () => {
    const id = await asking();
    const answer = (content: object) =>
      post(dev(), 'answer', { id, answers: { 'r1.confirm': { action: 'accept', content } } });
    expect(await answer({ ok: 'perhaps' })).toMatchObject({ status: 400, text: expect.stringContaining('ok') });
    expect((await answer({ ok: true })).json()).toMatchObject({ done: true, message: 'Answered. Round 2 runs' });
    expect(await poll(url(), id, ended)).toMatchObject({ status: 'completed' });
  });

  test('the explanation uses the result only if the payload is asked for', async () => {
    const { taskId: id } = await runTask(url(), 'broken_promise');
    expect((await get(dev(), `api/task?id=${id}`)).json().explanation.cause).toBe('completed');
    const { explanation } = (await get(dev(), `api/task?id=${id}&payload=yes`)).json();
    expect(explanation.cause).toBe('result does not fit its schema');
    expect(await get(reader(), `api/task?id=${id}&payload=yes`)).toMatchObject({ status: 403 });
  });

  test('a rerun makes a new task, and is refused if it may repeat an effect', async () => {
    const { taskId: effect } = await runTask(url(), 'echo', { n: 1 });
    expect((await post(dev(), 'rerun', { id: effect, force: true })).json()).toMatchObject({ done: false });
    const { taskId: id } = await runTask(url(), 'charge_then_crash', { file: '/dev/null' });
    const { newTaskId } = (await post(dev(), 'rerun', { id })).json();
    expect(await poll(url(), newTaskId, ended)).toMatchObject({ status: 'completed' });
    expect((await get(dev(), `api/task?id=${newTaskId}`)).json().story).toMatchObject({ rerunOf: id });
  });

  test('a body that is not an object, or too long, changes nothing', async () => {
    const id = await asking();
    expect((await post(dev(), 'cancel', [id])).status).toBe(400);
    expect((await post(dev(), 'cancel', { id, reason: 'x'.repeat(400_000) })).status).toBe(400);
    expect(await seen(id)).toMatchObject({ status: 'input_required' });
  });
});
