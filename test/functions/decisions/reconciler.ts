import { settleEnded } from '../../../functions/reconciler/ended-run.ts';
import { type SweepContext, sweep } from '../../../functions/reconciler/sweep.ts';
import { RUN_FAILURES } from '../../../functions/tasks/failures.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';
import type { Execution } from '../../support/engine/executions.ts';
import { executionArn } from '../../support/engine/memory.ts';
import { answered, END, engines, fakeContext, key, MINUTE, record, T0, waiting } from '../reconciler/fake-context.ts';
import { ended, FAULTS, failing } from './faults.ts';

const onExpress = (more: Partial<TaskRecord> = {}): TaskRecord => ({
  ...create(
    key,
    { tool: 'e', ttl: 60 * MINUTE, timeout: 30 * MINUTE, accepts: [], legacy: false, engine: 'express' },
    T0,
  ),
  arguments: '{}',
  ...more,
});

const TASKS: Readonly<Record<string, TaskRecord>> = {
  working: record(),
  'working, seen': record({ seenRound: 1 }),
  answered: answered(),
  'answered, seen': answered({ seenRound: 2 }),
  'answered, input lost': answered({ inputRef: `0.${'0'.repeat(64)}` }),
  asks: waiting(),
  'on Express': onExpress(),
  'on Express, run over': onExpress({ seenRound: 1, dueAt: T0 }),
  'of another release': record({ version: 99 }),
};
/** Between them, they make every call of the reconciler. */
const WITH_FAULTS = ['working', 'answered', 'on Express, run over'];
const NAMES = [...Object.keys(RUN_FAILURES), 'Runtime.ExitError', 'TypeError', 'not a name'];
const RUNS: readonly (Partial<Execution> | undefined)[] = [
  undefined,
  ...(['RUNNING', 'SUCCEEDED', 'TIMED_OUT', 'ABORTED'] as const).map((status) => ({ status })),
  ...NAMES.map((error) => ({ status: 'FAILED' as const, error })),
];

const faults: Readonly<Record<string, (context: SweepContext, error: Error) => SweepContext>> = {
  read: (context, error) => ({ ...context, store: failing(context.store, 'get', error) }),
  write: (context, error) => ({ ...context, store: failing(context.store, 'applyBlind', error) }),
  start: (context, error) => ({ ...context, workflow: failing(context.workflow, 'start', error) }),
  stop: (context, error) => ({ ...context, workflow: failing(context.workflow, 'stop', error) }),
  describe: (context, error) => failing(context, 'describe', error),
  input: (context, error) => ({ ...context, inputs: failing(context.inputs, 'whole', error) }),
  page: (context, error) => ({ ...context, index: failing(context.index, 'page', error) }),
};

async function decided(
  task: TaskRecord,
  now: number,
  run: Partial<Execution> | undefined,
  change: (context: SweepContext) => SweepContext = (same) => same,
) {
  const toolEngine = engines({ x: 'standard', e: 'express' });
  const fake = fakeContext([task], { toolEngine, repeatable: new Set(['e']), log: () => {} });
  fake.clock.now = now;
  if (run !== undefined) fake.executions.put(executionArn(task.taskId, task.round), { startDate: T0, ...run });
  const context = change(fake.context);
  const { taskId, owner, round } = task;
  const event = {
    executionArn: executionArn(taskId, round),
    status: run?.status ?? 'ABORTED',
    input: JSON.stringify({ owner, taskId, round }),
    error: run?.error ?? null,
  };
  return {
    swept: await ended(sweep(now + MINUTE, context)),
    settled: await ended(settleEnded(event, context)),
    did: fake.did,
    records: fake.records.all(),
    executions: fake.executions.all(),
  };
}

/** What the reconciler decides on each task, each state of its run, and where a call of AWS fails. */
export async function decisions(): Promise<Readonly<Record<string, unknown>>> {
  const all: Record<string, unknown> = {};
  for (const [title, task] of Object.entries(TASKS)) {
    for (const [i, run] of RUNS.entries()) {
      for (const now of [T0 + MINUTE, END + 1]) {
        all[`${title}, run ${i}, ${now - T0} ms`] = await decided(task, now, run);
      }
    }
    if (!WITH_FAULTS.includes(title)) continue;
    for (const [what, fault] of Object.entries(faults)) {
      for (const [i, error] of FAULTS.entries()) {
        const change = (context: SweepContext) => fault(context, error);
        all[`${title}, ${what} fails: ${i} ${error.name}`] = await decided(task, T0 + MINUTE, undefined, change);
      }
    }
  }
  return all;
}
