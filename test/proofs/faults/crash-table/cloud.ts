import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SFNClient, StopExecutionCommand } from '@aws-sdk/client-sfn';
import { afterAll, afterEach, inject } from 'vitest';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import type { CloudOptions } from '../../../../local/cloud.ts';
import { clientConfig, temporaryDir } from '../../../../local/test/fixture.ts';
import type { FaultSpec } from '../../../../local/testing.ts';
import { type Answer, modernRequest } from '../../../support/clients.ts';
import { useCloud } from '../../../support/cloud.ts';
import { type CloudControl, controlOf } from '../cloud-control.ts';
import { MINUTE } from './row.ts';

/** Calls that a state machine makes have no worker. */
const ofMachine: FaultSpec['when'] = ({ worker }) => worker === undefined;
const ofEndpoint = 'ServerEndpoint';

/** The write that a workflow ends with; the call of its tool; the endpoint's start of a workflow. */
export const FINISH = { service: 'dynamodb', operation: 'UpdateItem', when: ofMachine } as const;
export const INVOKE = { service: 'lambda', operation: 'Invoke', when: ofMachine } as const;
export const START = { service: 'states', operation: 'StartExecution', caller: ofEndpoint } as const;
export const BY_RECONCILER = { ...START, caller: 'ServerReconcilerFunction' } as const;
/** The reader of the stream asks the reconciler to begin the next round. */
export const RESUME = {
  service: 'lambda',
  operation: 'Invoke',
  caller: 'ServerTaskEventsFunction',
  do: 'drop',
  times: 100,
} as const;
export const STOP = { service: 'states', operation: 'StopExecution', caller: ofEndpoint } as const;
export const EVENT = { service: 'events', operation: 'Deliver', caller: 'ServerReconcilerRunEnded' } as const;
export const ACCEPT = { action: 'accept', content: { ok: true } };

/** A copy of the test app's assembly with another template; gone after the tests of the file. */
export function changedAssembly(change: (template: string) => string): string {
  const folder = temporaryDir();
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(inject('assembly'), folder, { recursive: true });
  const file = join(folder, 'Test.template.json');
  writeFileSync(file, change(readFileSync(file, 'utf8')));
  return folder;
}

/** A cloud of the test app whose clock moves and whose schedules wait for the test, with helpers for the rows. */
export function useCrashCloud(options: Partial<CloudOptions> = {}) {
  const cloud = useCloud('assembly', { movableClock: true, ...options });
  afterEach(() => cloud().faults.clear());
  let control: CloudControl | undefined;
  const current = (): CloudControl => {
    if (control?.cloud !== cloud()) control = controlOf(cloud());
    return control;
  };
  const url = () => `${cloud().url}/mcp`;
  const now = () => cloud().clock.now();
  const stored = async (taskId: string): Promise<TaskRecord> => {
    const record = (await current().records(0)).find((one) => one.taskId === taskId);
    if (record === undefined) throw new Error(`There is no task ${taskId}`);
    return record;
  };
  const runsOf = (taskId: string) =>
    cloud()
      .stepFunctions.executions()
      .filter(({ name }) => name.startsWith(taskId));

  return {
    ...{ cloud, url, now, stored, runsOf },
    sweep: () => current().sweep(),
    async sweepAfter(ms: number): Promise<void> {
      cloud().clock.advance(ms);
      await current().sweep();
    },
    quiet: () => current().quiet(),
    records: () => current().records(0),
    get: async (taskId: string): Promise<Answer['body']> =>
      (await modernRequest(url(), 'tasks/get', { taskId })).body.result,
    /** Calls a tool as a task. */
    async start(name: string, args: object = {}): Promise<string> {
      return (await modernRequest(url(), 'tools/call', { name, arguments: args })).body.result.taskId;
    },
    /** The task of a call whose client never got an answer. */
    async orphanOf(name: string, args: object = {}): Promise<TaskRecord> {
      const before = new Set((await current().records(0)).map(({ taskId }) => taskId));
      await modernRequest(url(), 'tools/call', { name, arguments: args }).catch(() => undefined);
      const [made] = (await current().records(0)).filter(({ taskId }) => !before.has(taskId));
      if (made === undefined) throw new Error('The call made no task');
      return made;
    },
    /** The acts of an operator in the console. */
    async stopRun(taskId: string): Promise<void> {
      const executionArn = runsOf(taskId).at(-1)?.arn;
      await new SFNClient(clientConfig(cloud())).send(new StopExecutionCommand({ executionArn }));
    },
    /**
     * Lets time pass, with a sweep every minute, until a task is settled. The sweeps come at almost the worst moment: five
     * seconds before the first one has work. @param due when it has work, in milliseconds from now
     */
    async pass(due: number, isSettled: () => Promise<boolean>): Promise<void> {
      cloud().clock.advance(due - 5_000);
      // The time of the sweeps themselves does not count towards the bound.
      cloud().clock.hold();
      try {
        for (let minutes = 0; minutes < 5; minutes++) {
          await current().sweep();
          if (await isSettled()) return;
          cloud().clock.advance(MINUTE);
        }
      } finally {
        cloud().clock.resume();
      }
    },
  };
}
