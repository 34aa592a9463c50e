import { overdue } from '../tasks/deadlines.ts';
import { engineOf, traitsOf } from '../tasks/engines.ts';
import { InternalError } from '../tasks/errors.ts';
import { outstanding } from '../tasks/input.ts';
import { addAnswers } from '../tasks/questions/add-answers.ts';
import type { Questions } from '../tasks/questions/question.ts';
import type { TaskRecord } from '../tasks/record.ts';
import { type Change, isWritten } from '../tasks/transitions/change.ts';
import { confirmStart, isSeen } from '../tasks/transitions/run.ts';
import type { RunContext } from './ports.ts';
import { storeInput, wholeInput } from './read.ts';
import { type Start, startNext } from './start-round.ts';

/** After this many lost races with other writers, the caller gets an error and may try again. */
const ATTEMPTS = 25;

/** What a front end says of the answers that it hands in. */
export interface Answering {
  /** Reads the task as its caller sees it now, again after a lost race. Undefined: it is not to be answered. */
  readonly read: () => Promise<TaskRecord | undefined>;
  /** The answers to the open questions, both by wire key. Keys of no open question are ignored (E-18). */
  readonly responses: (open: Questions) => Readonly<Record<string, unknown>>;
  /** `refuse`: an invalid answer throws InvalidParams. `leave`: it is left out, and its question stays open. */
  readonly invalid: 'refuse' | 'leave';
  /** The change as this caller writes it. */
  readonly marked?: (record: TaskRecord, change: Change) => Change;
  /** Gets the answers that belong to no open question, at the first attempt. */
  readonly ignored?: (record: TaskRecord, count: number) => void;
  readonly sleep: (ms: number) => Promise<void>;
}

/** What sending answers resulted in. `record`: as it is now. */
export type Signalled =
  /** The task asks nothing, or no answer was given to what it asks. */
  | { readonly outcome: 'nothing'; readonly record: TaskRecord; readonly start?: Start }
  /** Its deadline had passed: it is failed. */
  | { readonly outcome: 'late'; readonly record: TaskRecord }
  /** Stored. `open`: questions that still wait. */
  | { readonly outcome: 'stored'; readonly record: TaskRecord; readonly open: readonly string[] }
  /** The last answer is stored, and the next round begins. `error`: why its run could not be started now. */
  | {
      readonly outcome: 'round';
      readonly record: TaskRecord;
      readonly start: Start | { readonly error: unknown };
    };

/**
 * Stores answers to a task's open questions and starts the next round when all are there. The first answer wins (F-09):
 * after a lost race, the new record decides. Large answers MUST be in S3 before the record refers to them; the record MUST
 * begin the next round before its run starts (docs/crash-table.md, rows 14 to 17). Throws InvalidParams, Unavailable,
 * InternalError.
 *
 * @returns undefined if `read` returns that
 */
export async function signal(answering: Answering, context: RunContext): Promise<Signalled | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const record = await answering.read();
    if (record === undefined) return undefined;
    if (record.status === 'working') return repeated(record, context);
    const late = record.status === 'input_required' ? overdue(record, context.now()) : undefined;
    if (late !== undefined) {
      const failed = await context.store.apply(record, late);
      if (failed !== undefined) return { outcome: 'late', record: failed };
      continue;
    }
    const whole = record.status === 'input_required' ? await wholeInput(record, context) : record;
    const open = outstanding(whole);
    const responses = answering.responses(open);
    const ignored = Object.keys(responses).filter((name) => !Object.hasOwn(open, name)).length;
    if (ignored > 0 && attempt === 0) answering.ignored?.(whole, ignored);
    const engine = context.toolEngine(record.tool) ?? engineOf(record);
    const answers = addAnswers(record, whole, open, responses, answering.invalid, context.now(), engine);
    if (answers === undefined) return { outcome: 'nothing', record: whole };
    if (answers.stored) await storeInput(answers.stored.record, answers.stored.text, context);
    const change = answering.marked?.(record, answers.change) ?? answers.change;
    const changed = (await context.store.apply(record, change)) ?? (await repeatedWrite(record, change, context));
    if (changed !== undefined && change.set.status === 'working') return begun(record, changed, change, context);
    if (changed !== undefined) {
      const left = Object.keys(open).filter((name) => !Object.hasOwn(responses, name));
      return { outcome: 'stored', record: changed, open: left };
    }
    await answering.sleep(Math.random() * 20 * attempt);
  }
  throw new InternalError('The task is changing too fast: try again');
}

/**
 * The record, if it already holds this write of an operator: the AWS client lost the answer to its first attempt, and repeated it.
 * The record names operators, not clients. For a client, the open questions show whether its answers are stored.
 */
async function repeatedWrite(record: TaskRecord, change: Change, { store }: RunContext) {
  if (change.event?.who === undefined) return undefined;
  const written = await store.get(record);
  return written && isWritten(written, change) ? written : undefined;
}

/** The request before may have crashed before the start: a repeated answer starts the round, which is idempotent. */
async function repeated(record: TaskRecord, context: RunContext): Promise<Signalled> {
  const nothing = { outcome: 'nothing', record } as const;
  const known = record.round === 1 || isSeen(record) || context.now() >= record.deadlineAt;
  // Otherwise it would be one more run, and the sweep starts a round that was not started.
  if (known || !traitsOf(record).idempotentStart) return nothing;
  const start = await startNext(record, context);
  // Each start counts against a quota of the account: after this note, further repeats start nothing.
  if (start === 'started') await context.store.applyBlind(record, confirmStart(record, context.now()));
  return { outcome: 'nothing', record, start };
}

async function begun(
  before: TaskRecord,
  changed: TaskRecord,
  { set }: Change,
  context: RunContext,
): Promise<Signalled> {
  // Another writer was faster than the read after a repeated write: then the round has begun.
  if (changed.status !== 'working' || changed.round !== set.round) {
    return { outcome: 'round', record: changed, start: 'started' };
  }
  // Another answer at the same moment may have been refused as too late: then this one must not start a round.
  const failure = overdue(before, context.now());
  if (failure !== undefined) {
    const failed = await context.store.apply(changed, { ...failure, from: ['working'], round: changed.round });
    return { outcome: 'late', record: failed ?? changed };
  }
  try {
    return { outcome: 'round', record: changed, start: await startNext(changed, context) };
  } catch (error) {
    return { outcome: 'round', record: changed, start: { error } };
  }
}
