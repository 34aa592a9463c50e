import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { temporaryDir } from '../../../local/test/fixture.ts';
import { synthApp } from '../../../local/testing.ts';
import { MINUTE, settles } from '../../proofs/faults/crash-table/row.ts';
import { type Answer, ended, legacySession, modernRequest, poll, runTask } from '../../support/clients.ts';
import { type CloudProcess, killAll, startProcess } from '../kills/process.ts';
import { type Death, runRound } from '../kills/round.ts';

const folder = temporaryDir();
afterAll(() => {
  killAll();
  rmSync(folder, { recursive: true, force: true });
});

/** All but the poll interval, which follows the age of the task. */
const asBefore = (task: Answer['body']) => ({ ...task, pollIntervalMs: expect.any(Number) });

/** `npm start` on a free port. As on AWS, each run has its own worker: others wait for one. */
const start = (data: string, assembly: string) =>
  startProcess('bin/local.ts', '--port', '0', '--single', '--data', join(folder, data), '--assembly', assembly);

test('killed and restarted on the same data, it serves finished tasks and open sessions', async () => {
  const before = await start('tables', inject('assembly'));
  const task = await runTask(before.url, 'echo', { kept: true });
  const legacy = await legacySession(before.url);
  await before.kill();

  const after = await start('tables', inject('assembly'));
  const { body } = await modernRequest(after.url, 'tasks/get', { taskId: task.taskId });
  expect(body.result).toEqual(asBefore(task));
  const headers = {
    'content-type': 'application/json',
    'mcp-session-id': legacy.session,
    'mcp-protocol-version': '2025-11-25',
  };
  const ping = await fetch(after.url, { method: 'POST', headers, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' });
  expect(ping.status).toBe(200);
  await after.kill();
});

describe('killed with -9 under load and started again', () => {
  const assembly = join(folder, 'assembly');
  let after: CloudProcess;
  beforeAll(() => synthApp('test/support/apps/restart-app.ts', assembly));

  const AT_ONCE = 10;
  /** Of one function, at most. */
  const WORKERS = 16;
  async function inBatches<T, R>(items: readonly T[], run: (item: T, index: number) => Promise<R>): Promise<R[]> {
    const done: R[] = [];
    for (let i = 0; i < items.length; i += AT_ONCE) {
      done.push(...(await Promise.all(items.slice(i, i + AT_ONCE).map((item, j) => run(item, i + j)))));
    }
    return done;
  }
  async function call(url: string, name: string, args: object = {}): Promise<string> {
    const { body } = await modernRequest(url, 'tools/call', { name, arguments: args });
    return body.result.taskId;
  }
  const many = (count: number) => Array.from({ length: count }, (_, i) => i);

  test('200 tasks in flight all end correctly (row 22)', async ({ task: context }) => {
    const before = await start('executions', assembly);
    const { url } = before;
    const asking = await inBatches(many(40), () => call(url, 'ask'));
    await inBatches(asking, (taskId) => poll(url, taskId, ({ status }) => status === 'input_required'));
    const finished = await inBatches(many(20), (i) => runTask(url, 'short', { i }));
    // More than there are workers: some run, most wait for one.
    const [onceOnly, repeatable] = [
      await inBatches(many(60), () => call(url, 'once', { folder })),
      await inBatches(many(60), () => call(url, 'repeat', { folder })),
    ];
    const machines = await inBatches(many(40), () => call(url, 'machine', { seconds: 6 }));
    // Some of these end before the process does, some with it.
    const short = await inBatches(many(30), (i) => call(url, 'short', { i }));
    const runsOf = (taskId: string) => runs().filter((line) => line === taskId).length;
    const runs = () => readFileSync(join(folder, 'runs'), 'utf8').split('\n').slice(0, -1);
    // Then no worker is just about to begin.
    await expect.poll(() => runs().length).toBe(WORKERS);
    await before.kill();
    const begun = new Set(runs());
    const waiting = (taskId: string) => !begun.has(taskId);
    expect([onceOnly.every(waiting), onceOnly.some(waiting)]).toEqual([false, true]);
    expect(new Set([...asking, ...onceOnly, ...repeatable, ...machines]).size).toBe(200);

    writeFileSync(join(folder, 'go'), '');
    const since = Date.now();
    after = await start('executions', assembly);
    let lastEnd = 0;
    const ends = async (taskIds: readonly string[]) => {
      const tasks = await inBatches(taskIds, (taskId) => poll(after.url, taskId, ended));
      lastEnd = Math.max(lastEnd, ...tasks.map((task) => Date.parse(task.lastUpdatedAt)));
      return tasks;
    };
    const crashed = (task: Answer['body']) =>
      task.status === 'failed' && task.error.data.reason === 'Runtime.ExitError';

    for (const task of finished) {
      const { body } = await modernRequest(after.url, 'tasks/get', { taskId: task.taskId });
      expect(body.result).toEqual(asBefore(task));
    }
    const confirm = { action: 'accept', content: { ok: true } };
    await inBatches(asking, (taskId) =>
      modernRequest(after.url, 'tasks/update', { taskId, inputResponses: { 'r1.confirm': confirm } }),
    );
    for (const task of await ends(asking)) expect(task).toMatchObject({ status: 'completed' });
    // Runs that only waited for a worker have lost nothing. Of runs that had begun, only repeatable ones are repeated.
    // A try that found no room in time counts as one, too.
    const ran = { status: 'completed', result: { structuredContent: { attempt: expect.any(Number) } } };
    for (const task of await ends(onceOnly)) {
      if (waiting(task.taskId)) expect(task).toMatchObject(ran);
      else expect(task).toSatisfy(crashed);
    }
    for (const taskId of onceOnly) expect(runsOf(taskId)).toBe(1);
    for (const task of await ends(repeatable)) {
      expect(task).toMatchObject(ran);
      if (!waiting(task.taskId)) expect(task.result.structuredContent.attempt).toBeGreaterThan(0);
    }
    for (const task of await ends(machines)) {
      expect(task).toMatchObject({ status: 'completed', result: { structuredContent: { version: 'first-version' } } });
    }
    for (const [i, task] of (await ends(short)).entries()) {
      if (!crashed(task)) expect(task).toMatchObject({ status: 'completed', result: { structuredContent: { i } } });
    }
    settles(context, { row: 22, tookMs: lastEnd - since, boundMs: MINUTE });
  });

  test('with another definition meanwhile, a run keeps the one it began with (row 23)', async ({ task: context }) => {
    const taskId = await call(after.url, 'machine', { seconds: 6 });
    // Its own machine has begun: until then nothing holds on to a definition.
    await poll(after.url, taskId, ({ statusMessage }) => statusMessage !== undefined);
    await after.kill();
    const deployed = join(folder, 'deployed');
    cpSync(assembly, deployed, { recursive: true });
    const template = join(deployed, 'Restart.template.json');
    writeFileSync(template, readFileSync(template, 'utf8').replaceAll('first-version', 'second-version'));

    const since = Date.now();
    const later = await start('executions', deployed);
    const fresh = await runTask(later.url, 'machine', { seconds: 0 });
    expect(fresh.result.structuredContent).toEqual({ version: 'second-version' });
    const task = await poll(later.url, taskId, ended);
    expect(task.result.structuredContent).toEqual({ version: 'first-version' });
    settles(context, { row: 23, tookMs: Date.now() - since, boundMs: MINUTE });
  });

  test('repeatedly, during requests: no answer is taken back', async () => {
    const deaths: Death[] = [
      'the record is there, and no run',
      'the run is there, and no answer',
      'any time',
      'an answer is stored, and its round is not started',
      'a cancel is stored, and the run is not stopped',
      'the outcome is not stored',
      'the outcome is stored, and the workflow does not know',
      'any time',
    ];
    const seed = 22;
    const { kills, missed, wrong } = await runRound({ seed, assembly, folder: join(folder, 'kills'), deaths });
    expect({ missed, wrong }, `seed ${seed}\n${kills.join('\n')}`).toEqual({ missed: [], wrong: [] });
  });
});
