import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { definition, PERHAPS_EXECUTED } from '../../lib/workflow/definition.ts';
import { temporaryDir } from '../../local/test/fixture.ts';
import { INVOKE, useCrashCloud } from '../proofs/faults/crash-table/cloud.ts';
import { modernRequest, runTask } from '../support/clients.ts';

/** Workflow time runs a hundred times faster: a second of work is 100 seconds of the clock. */
const SCALE = 100;

function ledger(): { file: string; count: () => number } {
  const folder = temporaryDir();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'charged');
  return { file, count: () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').length : 0) };
}

describe('a tool that works longer than an SDK call may take', () => {
  const { url } = useCrashCloud({ timeScale: SCALE });

  test('completes: Run is the optimized lambda:invoke, which waits for its function', async () => {
    // One step takes 1.05 s, which is 105 s of the workflow's time.
    expect(await runTask(url(), 'steps', { steps: 1 })).toMatchObject({ status: 'completed' });
  });
});

describe('a function that crashes, or works for long', () => {
  const { cloud, url, get } = useCrashCloud();

  test.each([
    ['charge_then_crash', 2, 'is run again, and a finished step is not done twice', { attempt: 2 }],
    ['charge_then_crash', 3, 'is given up after two retries, with the reason', { reason: 'Runtime.ExitError' }],
    ['charge_once', 1, 'is not run again without an idempotent hint', { reason: 'Runtime.ExitError' }],
  ])('%s, %i times: %s', async (tool, crashes, _, end) => {
    const { file, count } = ledger();
    const { result, error } = await runTask(url(), tool, { file, crashes });
    expect(result?.structuredContent ?? error.data).toMatchObject(end);
    expect(count()).toBe(1);
  });

  test.each([
    ['waits', false],
    ['computes', true],
  ])('that %s stops at its next check after a cancel, and writes nothing more (C-25, C-27)', async (_, computes) => {
    const { file, count } = ledger();
    const { body } = await modernRequest(url(), 'tools/call', { name: 'spin', arguments: { file, computes } });
    const { taskId } = body.result;
    const works = () =>
      cloud()
        .lambda.workers()
        .some(({ functionName, busy }) => busy > 0 && /Tools/.test(functionName));
    await expect.poll(works, { interval: 20 }).toBe(true);
    await sleep(300);
    await modernRequest(url(), 'tasks/cancel', { taskId });
    const mark = cloud().calls.mark();
    await expect.poll(count).toBe(1);
    await expect.poll(works, { interval: 20 }).toBe(false);
    await sleep(200);
    expect(await get(taskId)).toMatchObject({ status: 'cancelled' });
    const writes = cloud()
      .calls.since(mark)
      .filter(({ service, operation }) => service === 'dynamodb' && /Put|Update|Delete/.test(operation));
    expect(writes).toEqual([]);
  });
});

describe('a retry', () => {
  const { cloud, url } = useCrashCloud({ timeScale: SCALE });
  const caught: string[] = JSON.parse(definition('standard')).States.Run.Catch[0].ErrorEquals;
  const unexecuted = caught.filter(
    (name) => /^Lambda\./.test(name) && !PERHAPS_EXECUTED.includes(name) && name !== 'Lambda.Unknown',
  );
  const short = (name: string) => name.replace(/^Lambda\./, '');
  const refuse = (error: string, times = 1, at: 'before' | 'after' = 'before') =>
    cloud().faults.add({ ...INVOKE, at, do: { error, status: 429 }, times });

  test('a repeatable tool that crashes twice, with throttles in between, completes', async () => {
    const { file, count } = ledger();
    let calls = 0;
    const throttled = cloud().faults.add({
      ...INVOKE,
      when: (call) => call.worker === undefined && [2, 3, 5].includes(++calls),
      do: { error: 'TooManyRequestsException', status: 429 },
      times: 3,
    });
    const crashes = [1, 4].map((n) =>
      cloud().faults.add({
        ...{ service: 'lambda', operation: 'Run', caller: 'Tools' },
        when: () => calls === n,
        do: 'killWorker',
      } as const),
    );
    const ran = await runTask(url(), 'charge_then_crash', { file });
    expect(ran).toMatchObject({ status: 'completed', result: { structuredContent: { attempt: 5 } } });
    expect([throttled.hits, ...crashes.map(({ hits }) => hits), count()]).toEqual([3, 1, 1, 1]);
  });

  test.each(PERHAPS_EXECUTED.map(short))('after %s a tool that may not be repeated ran once', async (error) => {
    const { file, count } = ledger();
    const fault = refuse(error, 1, 'after');
    const ran = await runTask(url(), 'charge_once', { file });
    expect(ran).toMatchObject({ status: 'failed', error: { data: { reason: `Lambda.${error}` } } });
    expect([fault.hits, count()]).toEqual([1, 1]);
  });

  test.each(unexecuted.map(short))('after %s it runs, once', async (error) => {
    const { file, count } = ledger();
    const fault = refuse(error);
    expect(await runTask(url(), 'charge_once', { file })).toMatchObject({ status: 'completed' });
    expect([fault.hits, count()]).toEqual([1, 1]);
  });

  test.each(['its handler', 'callback', 'realm', 'plain object'])(
    'a tool that throws a name of AWS has run: no second run (%s)',
    async (way) => {
      const { file, count } = ledger();
      const ran = await runTask(url(), 'throws', { file, way, name: 'Lambda.TooManyRequestsException' });
      expect(ran).toMatchObject({ status: 'failed', error: { data: { reason: 'ToolFailed' } } });
      expect(count()).toBe(1);
    },
  );
});
