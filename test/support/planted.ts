import { afterAll, beforeAll, expect, vi } from 'vitest';
import type { Cloud, CloudOptions } from '../../local/cloud.ts';

/**
 * Checks every test file: a text with this word must be in no log, neither of the functions of an embedded cloud nor of the
 * test itself. No credential may be in the history of any run.
 */
export const PLANTED = 'planted-secret';

/** An uncaught error of a tool is in the tool's log: Lambda itself writes it (SECURITY.md). */
export const isLambdasReport = (source: string, line: string): boolean =>
  line.startsWith('Invoke Error ') && !/cloud|Endpoint|Authorizer|Reconciler|Rotation/.test(source);

const leaks: string[] = [];
function check(source: string, text: string): void {
  if (text.includes(PLANTED) && !isLambdasReport(source, text)) leaks.push(`${source}: ${text.slice(0, 500)}`);
}

/** Credentials of a client, and values of all its requests (./clients.ts), which no run may know. */
const CREDENTIAL = new RegExp(`${PLANTED}-(header|credential)`);

async function checkHistories({ stepFunctions }: Cloud): Promise<void> {
  for (const { arn } of stepFunctions.executions()) {
    // A run on Express has no history.
    if (!arn.includes(':execution:')) continue;
    const history = JSON.stringify(await stepFunctions.operations.DescribeExecution?.({ executionArn: arn }));
    if (CREDENTIAL.test(history)) leaks.push(`history of ${arn}: ${history.slice(0, 500)}`);
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
