import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { newTaskKey } from '../../../functions/tasks/ids.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { type TaskStore, taskStore } from '../../../functions/tasks/table/store.ts';
import { askFirst, create } from '../../../functions/tasks/transitions/begin.ts';
import { keyExpired } from '../../../functions/tasks/transitions/end.ts';
import { temporaryDir } from '../../../local/test/fixture.ts';
import { modernRequest, poll, runTask } from '../../support/clients.ts';
import { useCloud } from '../../support/cloud.ts';
import { dynamoDbOf } from '../../support/dynamodb.ts';
import { verbsOn } from './verbs.ts';

const MINUTE = 60_000;
const cloud = useCloud();
const url = () => `${cloud().url}/mcp`;
const tasks = verbsOn(cloud);
const INVOKE = {
  service: 'lambda',
  operation: 'Invoke',
  when: ({ worker }: { worker?: unknown }) => worker === undefined,
} as const;
let store: TaskStore;

beforeAll(() => {
  store = taskStore(dynamoDbOf(cloud(), 'administrator'), cloud().tables[0] ?? '');
});
afterEach(() => cloud().faults.clear());

async function started(name: string, args: object = {}): Promise<string> {
  const { body } = await modernRequest(url(), 'tools/call', { name, arguments: args });
  return body.result.taskId;
}
/** A record that was created `age` ms ago, and whose start was lost. */
const recordOf = (age: number, timeout = 30 * MINUTE): TaskRecord => {
  const createdAt = Date.now() - age;
  const task = { tool: 'echo', ttl: 120 * MINUTE, timeout, accepts: ['elicitation/create'], legacy: false };
  return create(newTaskKey({ kind: 'anonymous' }, createdAt), task, createdAt);
};
/** Explains like an operator: the first command lists the task, the second one explains it by the end of its id. */
const explained = async (taskId: string, ...more: string[]) => {
  const { out } = await tasks('list', '--status', 'all');
  expect(out).toContain(taskId);
  return (await tasks('explain', taskId.slice(-12), '--json', ...more)).json();
};
/** Waits for an explanation: a run takes a moment to fail. */
const becomes = (taskId: string, cause: string) =>
  expect.poll(async () => (await explained(taskId)).cause, { interval: 200 }).toBe(cause);

describe('explain names the cause of each of ten seeded failures', () => {
  test('1. a throttled tool (row 8)', async () => {
    cloud().faults.add({ ...INVOKE, do: { error: 'TooManyRequestsException', status: 429 }, times: 600 });
    const taskId = await started('sleep', { ms: 1 });
    await becomes(taskId, 'throttled');
    const { because, row, endsBy, next } = await explained(taskId);
    expect(because[0]).toMatch(/Lambda has refused to run its function .*\(Lambda\.TooManyRequestsException\)/);
    expect(row).toBe('8');
    // The deadline of `sleep`, 30 s, and the grace of readers.
    expect(endsBy - Date.now()).toBeLessThanOrEqual(60_000);
    expect(next.at(-1)).toBe(`mcp-task-server tasks cancel ${taskId} --reason TEXT`);
    await tasks('cancel', taskId, '--reason', 'test');
  });

  test('2. a crash loop, while it runs and after it (rows 19 and 7)', async () => {
    const crash = { service: 'lambda', operation: 'Run', caller: 'Tools', do: 'killWorker' } as const;
    cloud().faults.add({ ...crash, times: 2 });
    // The third run lasts until the cancel.
    const looping = await started('charge_then_crash', { file: '/dev/null', ms: 240_000 });
    await becomes(looping, 'crash loop');
    expect((await explained(looping)).row).toBe('19');
    await tasks('cancel', looping, '--reason', 'test');
    cloud().faults.add({ ...crash, times: 3 });
    const taskId = await started('charge_then_crash', { file: '/dev/null' });
    await becomes(taskId, 'crashed');
    const after = await explained(taskId);
    expect(after.because[0]).toMatch(/Its function crashed \(Runtime\.ExitError\), 3 times in a row/);
    expect(after.row).toBe('7');
    expect(after.endsBy).toBeUndefined();
  });

  test('3. a lost start (row 4)', async () => {
    const record = recordOf(40_000);
    await store.create(record);
    const found = await explained(record.taskId);
    expect(found).toMatchObject({
      cause: 'lost start',
      row: '4',
      status: 'working',
      endsBy: record.deadlineAt + 30_000,
    });
    expect(found.because[0]).toContain('its first run was never started');
  });

  test('4. a question that gets no answer, before and after its deadline (row 17)', async () => {
    const taskId = await started('ask');
    await poll(url(), taskId, ({ status }) => status === 'input_required');
    const open = await explained(taskId);
    expect(open).toMatchObject({ cause: 'asks, and gets no answer', row: '17' });
    expect(open.next).toContain(`mcp-task-server tasks answer ${taskId} key=value --reason TEXT`);
    const late = recordOf(40 * MINUTE);
    await store.create(late);
    const asked = JSON.stringify({
      inputRequests: {
        q: {
          method: 'elicitation/create',
          params: { message: 'm', requestedSchema: { type: 'object', properties: {} } },
        },
      },
    });
    await store.apply(late, askFirst(late, asked, '{}', late.createdAt));
    expect(await explained(late.taskId)).toMatchObject({
      cause: 'its questions were not answered',
      status: 'failed',
      row: '17',
      because: ['It asked its client, and no answer came before its deadline.'],
    });
  });

  test('5. a record that this release does not understand', async () => {
    const record = { ...recordOf(1_000), version: 99 };
    await store.create(record);
    const found = await explained(record.taskId);
    expect(found).toMatchObject({
      cause: 'record of another release',
      row: expect.stringContaining('docs/deploying.md'),
    });
    expect(found.because[0]).toContain('version 99');
    expect((await tasks('show', record.taskId)).out).toContain('was stored by another release');
    expect((await tasks('list', '--json')).json().tasks).toContainEqual(
      expect.objectContaining({ taskId: record.taskId }),
    );
  });

  test('6. a result that does not fit the outputSchema of its tool (A-19)', async () => {
    const { taskId } = await runTask(url(), 'broken_promise');
    const found = await explained(taskId, '--payload');
    expect(found).toMatchObject({ cause: 'result does not fit its schema', row: 'A-19' });
    expect(found.because).toContain('  /n must be number');
    expect(JSON.stringify(found)).not.toContain('not a number');
  });

  test('7. an idempotency key that has expired (row 6)', async () => {
    const record = recordOf(1_000);
    await store.create(record);
    await store.apply(record, keyExpired(record, Date.now()));
    const found = await explained(record.taskId);
    expect(found).toMatchObject({ cause: 'idempotency key expired', row: '6', status: 'failed' });
    expect(found.because.join(' ')).toContain('call again with a new key');
  });

  test('8. a deployment in the middle of a run (row 23)', async () => {
    const { Resources } = JSON.parse(readFileSync(join(inject('assembly'), 'Test.template.json'), 'utf8'));
    const [id = ''] = Object.keys(Resources).filter((name) => /^Tools[0-9A-F]{8}$/.test(name));
    const taskId = await started('sleep', { ms: 20_000 });
    await becomes(taskId, 'works');
    const folder = temporaryDir();
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const code = String(Resources[id].Properties.Code.S3Key).replace('.zip', '');
    cpSync(join(inject('assembly'), `asset.${code}`), join(folder, 'next'), { recursive: true });
    writeFileSync(join(folder, 'next', 'deployed.txt'), 'again');
    expect(cloud().redeploy(inject('assembly'), new Map([[id, join(folder, 'next')]])).refused).toEqual([]);
    const found = await explained(taskId);
    expect(found).toMatchObject({ cause: 'deployed in the middle', row: '23' });
    expect(found.because.join(' ')).toContain('The run keeps the definition of its workflow');
    await tasks('cancel', taskId, '--reason', 'test');
  });

  test('9. messages in a queue of dead letters', async () => {
    const [queue] = [...cloud().queues].filter(([name]) => /Reconciler/.test(name)).map(([, messages]) => messages);
    const messages = queue as { body: string; attributes: object; sentAt: number }[];
    messages.push({ body: '{"secret":1}', attributes: {}, sentAt: Date.now() });
    onTestFinished(() => void messages.splice(0));
    const { taskId } = await runTask(url(), 'echo');
    const { also } = await explained(taskId);
    expect(also).toEqual([
      expect.stringContaining('The queue of dead letters of the reconciler function holds 1 message'),
    ]);
  });

  test('10. a sweep that does not run (row 21)', async () => {
    const record = recordOf(10 * MINUTE);
    await store.create(record);
    const { also } = await explained(record.taskId);
    expect(also[0]).toMatch(/The sweep should have checked this task 9 minutes ago \(row 21\)/);
    expect((await tasks('explain', record.taskId)).out).toContain('mcp-task-server tasks logs --part reconciler');
  });
});

test('explain offers a rerun if rerun makes a task, and says if it refuses', async () => {
  const rerun = /^mcp-task-server tasks rerun /;
  const { taskId } = await runTask(url(), 'throws');
  const refused = await explained(taskId);
  expect(refused.next.filter((command: string) => rerun.test(command))).toEqual([]);
  expect(refused.rerunRefusal).toContain('may have had effects already');
  const { out } = await tasks('rerun', taskId, '--reason', 'test');
  expect(out).toContain(refused.rerunRefusal);
  expect((await tasks('explain', taskId)).out).toContain(`No rerun  'throws' may have had effects already`);
  const crashed = await runTask(url(), 'charge_then_crash', { file: '/dev/null', crashes: 9 });
  const offered = await explained(crashed.taskId);
  expect(offered.next).toContainEqual(expect.stringMatching(rerun));
  expect(offered.rerunRefusal).toBeUndefined();
});

describe('logs', () => {
  test("show the server's lines that name a task; its tool's only when asked for", async () => {
    const { taskId } = await runTask(url(), 'throws');
    await expect.poll(async () => (await tasks('logs', taskId)).out).toContain(`"taskId":"${taskId}"`);
    expect((await tasks('logs', taskId)).out).toContain('the lines of its tool: --payload shows them');
    expect((await tasks('logs', taskId, '--payload')).out).not.toContain('Not shown');
  });

  test('of a part of the server need no id, and name the parts', async () => {
    expect((await tasks('logs', '--part', 'endpoint', '--since', '1h')).code).toBe(0);
    expect((await tasks('logs', '--part', 'x')).err).toContain('--part is one of endpoint, reconciler, events');
  });
});
