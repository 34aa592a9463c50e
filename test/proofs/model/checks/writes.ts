import { isDeepStrictEqual } from 'node:util';
import { asOf, lapse } from '../../../../functions/tasks/deadlines.ts';
import type { RpcError } from '../../../../functions/tasks/failures.ts';
import { outstanding } from '../../../../functions/tasks/input.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { isTerminal } from '../../../../functions/tasks/transitions/change.ts';
import type { Execution } from '../../../support/engine/executions.ts';
import { brokenMove } from '../../record-rules.ts';
import type { RoundTruth, TaskTruth, Truth } from './truth.ts';
import { checkWaits } from './waits.ts';

export interface RecordWrite {
  readonly before: TaskRecord | undefined;
  readonly after: TaskRecord;
  readonly now: number;
  /** When it was sent, by the clock of who sent it, and in the order of all that was sent and written. */
  readonly sent: { readonly at: number; readonly order: number };
  /** The execution of the round before the write. */
  readonly run: Execution | undefined;
  /** The questions of a tool that asks first. */
  readonly askFirst: string;
}

/** Marks a call without a task: in 2025-11-25 it cannot be asked anything, which cancels what it has begun. */
export const PLAIN = 'plain';
/** No clock of the model is wrong by more, in ms. */
export const SKEW = 2_000;
const FIXED = ['owner', 'taskId', 'tool', 'createdAt', 'ttl', 'deadlineAt', 'expiresAt', 'digest', 'accepts'] as const;
const GONE = ['asked', 'arguments', 'inputResponses', 'refused'] as const;

/** What must hold of each write of a task's record, by any writer. */
export function checkWrite(write: RecordWrite, task: TaskTruth, truth: Truth): void {
  const { before, after } = write;
  const must = (holds: boolean, rule: string) => {
    if (!holds) truth.violated(`${rule}: ${after.taskId} ${before?.status} -> ${after.status}`);
  };
  must(after.status !== 'completed' || after.result !== undefined, 'A completed task has a result');
  if (isTerminal(after.status)) {
    must(
      GONE.every((field) => after[field] === undefined),
      'What a running task needs goes when it ends',
    );
  } else {
    const due = after.due !== undefined && after.dueAt !== undefined;
    must(
      due && (after.dueAt ?? 0) <= endOf(after),
      'An unfinished task is in the index, until its deadline at the latest',
    );
  }
  checkWaits(write, task, truth, must);
  if (before === undefined) return;
  // After its end only the stop of its run is noted.
  if (isTerminal(before.status) && isDeepStrictEqual(withoutDue(before), withoutDue(after))) return;
  const broken = brokenMove(before, after);
  if (broken !== undefined) must(false, broken);
  const fixed = FIXED.filter((field) => !isWithdrawn(after) || !['ttl', 'expiresAt'].includes(field));
  must(
    fixed.every((field) => isDeepStrictEqual(before[field], after[field])),
    'What a task is stays as it is',
  );
  checkRound(before, after, must);
  if (before.status === after.status) return;
  checkTime(write, task, must);
  const round = truth.round(after.taskId, before.round);
  if (round !== undefined) checkReason(write, task, round, must);
}

const withoutDue = ({ due: _due, dueAt: _dueAt, ...rest }: TaskRecord) => rest;

/** Step Functions refused to start it, and it is gone for every reader. */
export const isWithdrawn = ({ status, error = '' }: TaskRecord): boolean =>
  status === 'failed' && error.includes('"Unavailable"');

type Must = (holds: boolean, rule: string) => void;

/** The answers between rounds. */
function checkRound(before: TaskRecord, after: TaskRecord, must: Must): void {
  if (before.status === 'input_required' && after.status === 'working') {
    const answered = { ...before, inputResponses: after.inputResponses ?? {} };
    must(Object.keys(outstanding(answered)).length === 0, 'A round begins with all answers');
  }
  if (isTerminal(after.status)) return;
  const { inputResponses: given = {} } = after;
  const kept = Object.entries(before.inputResponses ?? {}).every(([key, text]) => given[key] === text);
  must(kept, 'An answer that was taken stays as it is');
  const asks = after.status === 'input_required';
  must(!asks || Object.keys(outstanding(after)).length > 0, 'A task that waits for input asks something');
}

/** Once readers see that a task has failed, no writer that could know writes anything else. */
function checkTime({ before, after, now, sent }: RecordWrite, task: TaskTruth, must: Must): void {
  if (before === undefined) return;
  const failure = lapse(before, now);
  const same = failure?.set.error !== undefined && failure.set.error === after.error;
  if (failure === undefined || same || asOf(before, now) === undefined) return;
  const known = task.history.findLast(({ order }) => order < sent.order)?.record ?? before;
  must(lapse(known, sent.at) === undefined, 'What comes too late is not written');
  task.overtaken = true;
}

/** Every end has a cause that has happened. */
function checkReason(
  { before, after, now, run, askFirst }: RecordWrite,
  task: TaskTruth,
  round: RoundTruth,
  must: Must,
) {
  if (before === undefined) return;
  switch (after.status) {
    case 'completed':
      return must(
        round.ran.some((ran) => ran.kind === 'result' && ran.text === after.result && ran.isError === after.isError),
        'A result is what the tool of this round has returned',
      );
    case 'input_required':
      return must(
        after.asked === askFirst
          ? round.executions === 0
          : round.ran.some((ran) => ran.kind === 'asks' && ran.text === after.asked && ran.waits === after.waits),
        'Questions are what the tool of this round has asked, or come before it runs',
      );
    case 'waiting':
      return must(
        before.status === 'input_required'
          ? before.waits === after.waits
          : round.ran.some((ran) => ran.kind === 'waits' && ran.text === after.asked && ran.waits === after.waits),
        'A task waits for what the tool of this round has ended with',
      );
    case 'cancelled':
      return must(task.cancelAsked || before.progressToken === PLAIN, 'A task is cancelled because a client wants it');
    case 'failed':
      return must(
        failureIsTrue(JSON.parse(after.error ?? 'null') as RpcError, before, { now, run }, task, round),
        `A failure has happened (${after.error})`,
      );
  }
}

function failureIsTrue(
  error: RpcError,
  before: TaskRecord,
  { now, run }: Pick<RecordWrite, 'now' | 'run'>,
  task: TaskTruth,
  round: RoundTruth,
): boolean {
  const { reason = '' } = (error.data ?? {}) as { reason?: string };
  const past = (time: number) => now + SKEW > time;
  const hasDied = run !== undefined && run.status !== 'RUNNING' && run.status !== 'SUCCEEDED';
  switch (error.message) {
    case 'The task could not be started':
      if (reason === 'Unavailable') return before.round === 1 && round.executions === 0 && !task.promised;
      return before.round === 1 && (round.executions === 0 || (task.startFailed && !task.promised));
    case 'The run of the tool ended without a result':
      return before.status === 'working' && hasDied;
    case 'The task of this idempotency key has expired: use a new key':
      // Not so, but it has failed: a repeat started it while the first call's only try was on its way, and its run died.
      return before.round === 1 && task.starters > 1 && hasDied;
    case 'No answer came before the deadline':
      return (before.status === 'input_required' || before.round > 1) && past(before.deadlineAt);
    case 'The tool did not finish in time':
      return (
        (before.status === 'working' && past(before.deadlineAt + limits.lateWrite)) ||
        (before.status === 'waiting' && past(before.deadlineAt))
      );
    case 'The tool waits in a form that is not valid':
      return round.ran.some(({ kind }) => kind === 'waits');
    case 'The tool asked for input in a form that is not valid':
      return round.ran.some(({ kind }) => kind === 'asks');
    case 'The client refused elicitation/create':
      return task.refused;
    default:
      return reason === 'States.Timeout' || round.failures.includes(reason) || hasFailed(round, reason);
  }
}

const hasFailed = ({ ran }: RoundTruth, reason: string): boolean =>
  ran.some((one) => one.kind === 'fails' && one.reason === reason);
const endOf = ({ deadlineAt }: TaskRecord): number => deadlineAt + limits.deadlineGrace;
