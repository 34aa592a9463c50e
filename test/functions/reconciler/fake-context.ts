import type { Execution } from '../../../functions/reconciler/describe.ts';
import type { SweepContext } from '../../../functions/reconciler/sweep.ts';
import { executionName } from '../../../functions/tasks/ids.ts';
import { logEvent } from '../../../functions/tasks/log.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';
import { applied } from '../tasks/applied.ts';
import { fakeObjects, noInputs } from '../tasks/s3/fake-inputs.ts';

export const T0 = 1_700_000_000_000;
export const PREFIX = 'arn:aws:states:eu-west-1:1:stateMachine:S-';
export const MINUTE = 60_000;
export const GRACE = 30_000;
export const key = { owner: 'o', taskId: 't' };
/** A task made at T0 that has not ended by then has failed. */
export const END = T0 + 10 * MINUTE + GRACE;

/** A task of ten minutes, made at T0. */
export const record = (over: Partial<TaskRecord> = {}): TaskRecord => ({
  ...create(
    key,
    {
      tool: 'x',
      ttl: 60 * MINUTE,
      timeout: 10 * MINUTE,
      accepts: ['elicitation/create', 'elicitation/create:url', 'sampling/createMessage', 'roots/list'],
      legacy: false,
    },
    T0,
  ),
  ...over,
});
const question = { method: 'elicitation/create', params: { mode: 'url', message: '?', url: 'https://example.com' } };
const asked = JSON.stringify({ inputRequests: { a: question } });
export const waiting = (over: Partial<TaskRecord> = {}): TaskRecord =>
  record({ status: 'input_required', asked, arguments: '{"n":1}', dueAt: END, ...over });
/** Answered at T0; its second round is to be started. */
export const answered = (over: Partial<TaskRecord> = {}): TaskRecord =>
  record({ round: 2, asked, arguments: '{"n":1}', inputResponses: { 'r1.a': '{"action":"accept"}' }, ...over });

export const executionArn = (taskId: string, round: number, machine = 'm'): string =>
  `${PREFIX.replace(':stateMachine:', ':execution:')}${machine}:${executionName(taskId, round)}`;

/** The workflows of tools by name: those of a server. */
export const machines =
  (ids: Readonly<Record<string, string>>, express: readonly string[] = []): SweepContext['machineOf'] =>
  (tool) => {
    const id = ids[tool];
    return id === undefined ? undefined : { id, express: express.includes(tool) };
  };

/** Thrown where a process dies. */
export class Killed extends Error {}

/**
 * A table, an index and Step Functions of plain objects: everything the reconciler asked for is in `did`. `killAt`
 * dies at the n-th call instead of making it, `dieAfter` right after it.
 */
export function fakeContext(tasks: readonly TaskRecord[] = [], over: Partial<SweepContext> = {}) {
  const records = new Map(tasks.map((task) => [task.taskId, task]));
  const runs = new Map<string, Execution>();
  const did: string[] = [];
  const clock = { now: T0 + MINUTE };
  const kill: { at?: number; after?: number } = {};
  const call = <T>(name: string, run: () => T): T => {
    did.push(name);
    if (kill.at === did.length) throw new Killed();
    const result = run();
    if (kill.after === did.length) throw new Killed();
    return result;
  };
  const context: SweepContext = {
    store: {
      get: async ({ taskId }) => call('get', () => records.get(taskId)),
      applyBlind: async ({ taskId }, change) =>
        call('write', () => {
          const before = records.get(taskId);
          const after = before && applied(before, change);
          if (after !== undefined) records.set(taskId, after);
          return after !== undefined;
        }),
      postpone: async ({ taskId }, _now, dueAt) =>
        call('postpone', () => {
          const before = records.get(taskId);
          if (before !== undefined) records.set(taskId, { ...before, dueAt });
        }),
    },
    results: fakeObjects(),
    oldestOpen: async () => undefined,
    repeatable: new Set(['x']),
    inputs: noInputs(),
    workflow: {
      start: async ({ taskId, round }, machine, input) =>
        call('start', () => {
          const arn = executionArn(taskId, round, machine);
          if (!runs.has(arn)) runs.set(arn, { status: 'RUNNING', input });
        }),
      stop: async ({ taskId, round }, machine) =>
        call('stop', () => {
          const arn = executionArn(taskId, round, machine);
          if (runs.get(arn)?.status !== 'RUNNING') throw Object.assign(new Error(), { name: 'ExecutionDoesNotExist' });
          runs.set(arn, { ...runs.get(arn), status: 'ABORTED' });
        }),
    },
    describe: async (arn) => call('describe', () => runs.get(arn) ?? { status: 'missing' }),
    index: {
      page: async (shard, until) => ({
        keys: [...records.values()]
          .filter(({ due, dueAt }) => due === String(shard) && (dueAt ?? 0) <= until)
          .sort((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0)),
      }),
    },
    machineOf: machines({ x: 'm' }),
    log: logEvent,
    stateMachines: new Map(),
    machineArnPrefix: PREFIX,
    now: () => clock.now,
    async sleep(ms) {
      clock.now += ms;
    },
    ...over,
  };
  return { context, records, runs, did, clock, kill };
}
