import { afterAll, beforeAll, expect, vi } from 'vitest';
import type { Cloud, CloudOptions } from '../../local/cloud.ts';

/**
 * For every test file: what a test plants by this word, wherever it sends it, must be in no log: of the functions of any
 * embedded cloud, nor of what runs in the test itself. Nor may a credential be in the history of any run.
 */
export const PLANTED = 'planted-secret';

/** What a tool throws and does not catch stands in its own log: Lambda itself puts it there (SECURITY.md). */
export const isLambdasReport = (source: string, line: string): boolean =>
  line.startsWith('Invoke Error ') && !/cloud|Endpoint|Authorizer|Reconciler|Rotation/.test(source);

const leaks: string[] = [];
function check(source: string, text: string): void {
  if (text.includes(PLANTED) && !isLambdasReport(source, text)) leaks.push(`${source}: ${text.slice(0, 500)}`);
}

/** What a client brings with every request (./clients.ts), or shows who it is with: no run is to know of it. */
const CREDENTIAL = new RegExp(`${PLANTED}-(header|credential)`);

async function checkHistories({ stepFunctions }: Cloud): Promise<void> {
  for (const { arn } of stepFunctions.executions()) {
    // Of a run on Express there is no history.
    if (!arn.includes(':execution:')) continue;
    const told = JSON.stringify(await stepFunctions.operations.DescribeExecution?.({ executionArn: arn }));
    if (CREDENTIAL.test(told)) leaks.push(`history of ${arn}: ${told.slice(0, 500)}`);
  }
}

vi.mock('../../local/cloud.ts', async (original) => {
  const real = await original<typeof import('../../local/cloud.ts')>();
  const startCloud = async (options: CloudOptions): Promise<Cloud> => {
    const cloud = await real.startCloud({
      ...options,
      onLog(source, line, stream) {
        check(source, line);
        options.onLog?.(source, line, stream);
      },
    });
    const stop = async () => {
      await checkHistories(cloud);
      await cloud.stop();
    };
    return { ...cloud, stop };
  };
  return { ...real, startCloud };
});

const restore: (() => void)[] = [];
beforeAll(() => {
  for (const name of ['log', 'info', 'warn', 'error'] as const) {
    const real = console[name];
    console[name] = (...said: unknown[]) => {
      check(`console.${name}`, said.map(String).join(' '));
      real(...said);
    };
    restore.push(() => {
      console[name] = real;
    });
  }
});

afterAll(() => {
  for (const undo of restore.splice(0)) undo();
  expect(leaks.splice(0), `'${PLANTED}' was planted by a test, and is in a log or a history`).toEqual([]);
});
