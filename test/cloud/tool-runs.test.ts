import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { definition } from '../../lib/workflow/definition.ts';
import { temporaryDir } from '../../local/test/fixture.ts';
import { changedAssembly, INVOKE, useCrashCloud } from '../proofs/faults/crash-table/cloud.ts';
import { runTask } from '../support/clients.ts';

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

  describe('under aws-sdk:lambda:invoke', () => {
    const assembly = changedAssembly((template) =>
      template.replaceAll('arn:aws:states:::lambda:invoke', 'arn:aws:states:::aws-sdk:lambda:invoke'),
    );
    const old = useCrashCloud({ timeScale: SCALE, assembly });

    test('is cut off at 60 s, as any call of an SDK integration', async () => {
      expect(await runTask(old.url(), 'steps', { steps: 1 })).toMatchObject({
        status: 'failed',
        error: { data: { reason: 'Lambda.SdkClientException' } },
      });
    });
  });
});

describe('what is tried again', () => {
  const { cloud, url } = useCrashCloud({ timeScale: SCALE });
  const retriers: { ErrorEquals: string[] }[] = JSON.parse(definition(true)).States.Run.Retry;
  const [notExecuted, perhapsExecuted] = retriers.map(({ ErrorEquals }) =>
    ErrorEquals.map((name) => name.replace(/^Lambda\./, '')),
  );
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

  test.each(perhapsExecuted ?? [])('after %s a tool that may not be repeated ran once', async (error) => {
    const { file, count } = ledger();
    const fault = refuse(error, 1, 'after');
    const ran = await runTask(url(), 'charge_once', { file });
    expect(ran).toMatchObject({ status: 'failed', error: { data: { reason: `Lambda.${error}` } } });
    expect([fault.hits, count()]).toEqual([1, 1]);
  });

  test.each(notExecuted ?? [])('after %s it runs, once', async (error) => {
    const { file, count } = ledger();
    const fault = refuse(error);
    expect(await runTask(url(), 'charge_once', { file })).toMatchObject({ status: 'completed' });
    expect([fault.hits, count()]).toEqual([1, 1]);
  });

  test('200 throttles over the first minutes of a task with ten minutes: it completes', async () => {
    const fault = refuse('TooManyRequestsException', 200);
    expect(await runTask(url(), 'ten_minutes')).toMatchObject({
      status: 'completed',
      result: { structuredContent: { attempt: 200 } },
    });
    expect(fault.hits).toBe(200);
  });

  test('throttled until its deadline, a tool does not run after it', async () => {
    const { file, count } = ledger();
    const fault = refuse('TooManyRequestsException', 10_000);
    const ran = await runTask(url(), 'brief', { ms: 0, file });
    expect(ran).toMatchObject({ status: 'failed', error: { data: { reason: 'States.Timeout' } } });
    expect(fault.hits).toBeLessThan(601);
    expect(count()).toBe(0);
  });
});
