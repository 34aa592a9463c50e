import { RecordUnknown } from '../tasks/errors.ts';
import { limits } from '../tasks/limits.ts';
import { logEvent } from '../tasks/log.ts';
import type { TaskKey, TaskRecord } from '../tasks/record.ts';
import { InputLost, type InputStore } from '../tasks/s3/input-store.ts';
import type { TaskStore } from '../tasks/table/store.ts';
import { isSeen, lookAgain, loseInput } from '../tasks/transitions.ts';
import { executionArnOf, restart, type Workflow } from '../tasks/workflow.ts';
import { type Decision, decide, postpone } from './decide.ts';
import { decideExpress } from './decide-express.ts';
import type { Execution } from './describe.ts';
import type { Run } from './outcome.ts';

/** What the reconciler needs from outside. Tests replace single members. */
export interface ReconcilerContext {
  readonly store: Pick<TaskStore, 'get' | 'applyBlind' | 'postpone'>;
  readonly workflow: Workflow;
  readonly inputs: InputStore;
  readonly describe: (executionArn: string) => Promise<Execution>;
  /** By tool: the end of the name of its workflow. */
  readonly machines: ReadonlyMap<string, string>;
  /** Tools on Express. */
  readonly express: ReadonlySet<string>;
  /** By tool that is a state machine: its ARN. */
  readonly stateMachines: ReadonlyMap<string, string>;
  /** The ARN of every tool workflow begins with it. */
  readonly machineArnPrefix: string;
  readonly now: () => number;
}

/** What was done. `look`, `look_again`: nothing, as it depends on the run and `mayLook` was false. */
export type Done = Decision['kind'];

/** Repairs one task after a crash at any point: read, decide, write. It may crash between any two of its calls. */
export async function reconcile(key: TaskKey, mayLook: boolean, context: ReconcilerContext): Promise<Done> {
  const record = await readKnown(key, context);
  if (record === 'unknown') {
    await context.store.postpone(key, context.now(), context.now() + limits.unknownRecord);
    return 'postponed';
  }
  const express = record !== undefined && isExpress(record, context);
  const decision = express ? decideExpress(record, context.now()) : decide(record, context.now());
  if (record === undefined) return decision.kind;
  const looks = decision.kind === 'look' || decision.kind === 'look_again';
  if (!looks || !mayLook) return act(record, decision, context);
  const machine = context.machines.get(record.tool);
  if (machine === undefined) return act(record, postpone(record, context.now()), context);
  try {
    const run = await context.describe(executionArnOf(record, context.machineArnPrefix + machine));
    return await act(record, decide(record, context.now(), await withWork(record, run, context)), context);
  } catch (error) {
    // Still due, but after the others: tasks that always fail must not use up the reads of every sweep.
    await context.store.applyBlind(record, lookAgain(record, context.now(), 0)).catch(() => undefined);
    throw error;
  }
}

/** The same for a task whose run has ended. Does nothing if the task is in another round by now. */
export async function reconcileEnded(key: TaskKey, round: number, run: Run, context: ReconcilerContext): Promise<Done> {
  const record = await readKnown(key, context);
  if (record === 'unknown' || record?.round !== round) return 'nothing';
  return act(record, decide(record, context.now(), await withWork(record, run, context)), context);
}

/**
 * Adds the execution of the tool's own state machine, if its outcome may have to be written here: the workflow that
 * waits for it has ended, or was seen before and may have missed its end.
 */
async function withWork(record: TaskRecord, run: Run, { stateMachines, describe }: ReconcilerContext): Promise<Run> {
  const stateMachine = stateMachines.get(record.tool);
  if (stateMachine === undefined || record.status !== 'working' || run.status === 'missing') return run;
  if (run.status === 'RUNNING' && !isSeen(record)) return run;
  try {
    return { ...run, work: await describe(executionArnOf(record, stateMachine)) };
  } catch (error) {
    // It is encrypted with a key that this role may not use. Then only the workflow counts.
    if (/AccessDenied/.test((error as Error).name)) return run;
    throw error;
  }
}

async function readKnown(key: TaskKey, { store }: ReconcilerContext): Promise<TaskRecord | undefined | 'unknown'> {
  try {
    return await store.get(key);
  } catch (error) {
    if (error instanceof RecordUnknown) return 'unknown';
    throw error;
  }
}

/** Also a task that began when its tool had the other engine: both know no run of it by its name. */
const isExpress = (record: TaskRecord, { express }: ReconcilerContext): boolean =>
  record.express === true || express.has(record.tool);

async function act(record: TaskRecord, decision: Decision, context: ReconcilerContext): Promise<Done> {
  const { store, workflow, machines, inputs } = context;
  if (!('change' in decision)) return decision.kind;
  const machine = machines.get(record.tool);
  // After a crash behind the start, the next sweep finds the execution: no name starts twice. On Express it runs twice.
  try {
    const start = decision.start ? await restart(record, machine, workflow, inputs) : 'started';
    if (start === 'gone' && isExpress(record, context)) return act(record, postpone(record, context.now()), context);
  } catch (error) {
    // No later sweep could start it.
    if (!(error instanceof InputLost)) throw error;
    return (await store.applyBlind(record, loseInput(record, context.now()))) ? decision.kind : 'nothing';
  }
  const written = await store.applyBlind(record, decision.change);
  // If the write lost, perhaps to a cancel that found no run to stop, stop the run that was started here.
  const over = written ? decision.stop : decision.start;
  if (over && machine !== undefined && !isExpress(record, context)) await stop(record, machine, workflow);
  return written ? decision.kind : 'nothing';
}

/** Best effort: there may be no run, and a run that goes on can change nothing. */
async function stop(record: TaskRecord, machine: string, workflow: Workflow): Promise<void> {
  try {
    await workflow.stop(record, machine);
  } catch (error) {
    const { name } = error as Error;
    if (name !== 'ExecutionDoesNotExist') logEvent('stop_failed', { tool: record.tool, error: name });
  }
}
