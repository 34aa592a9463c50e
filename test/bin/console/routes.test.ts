import { beforeAll, describe, expect, test } from 'vitest';
import { newTaskKey } from '../../../functions/tasks/ids.ts';
import { progressStore } from '../../../functions/tasks/table/progress-item.ts';
import { taskStore } from '../../../functions/tasks/table/store.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';
import { modernRequest, poll } from '../../support/clients.ts';
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
const post = (console_: TestConsole, route: string, body: object) =>
  send(console_.port, `/${console_.token}/api/${route}`, { method: 'POST', body, headers: acting(console_) });
async function asking(): Promise<string> {
  const { body } = await modernRequest(url(), 'tools/call', { name: 'ask', arguments: { secret: SECRET } });
  await poll(url(), body.result.taskId, ({ status }) => status === 'input_required');
  return body.result.taskId;
}
const seen = async (taskId: string) => (await modernRequest(url(), 'tasks/get', { taskId })).body.result;

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

test('a deployed server demands a reason, and the audit keeps who and why', async () => {
  const id = await asking();
  expect((await post(deployed(), 'cancel', { id })).json().error).toContain('give a reason');
  expect(await seen(id)).toMatchObject({ status: 'input_required' });
  expect((await post(deployed(), 'cancel', { id, reason: 'INC-7' })).json()).toMatchObject({ done: true });
  expect(await seen(id)).toMatchObject({ status: 'cancelled' });
  expect(deployed().acts.at(-1)).toMatchObject({ act: 'cancel', taskId: id, reason: 'INC-7', done: true });
  expect(deployed().acts.at(-1)?.who).toContain('Everything');
});
