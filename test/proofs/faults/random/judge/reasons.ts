import { ENGINES } from '../../../../../functions/tasks/engines.ts';
import type { RpcError } from '../../../../../functions/tasks/failures.ts';
import { limits } from '../../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../../functions/tasks/record.ts';
import { matchesLogicalId } from '../../../../../local/testing.ts';
import { isOperator } from '../operators/connect.ts';
import type { PlannedTask } from '../plan.ts';
import { kills, type Storm, type Strike } from '../storm.ts';
import { isExpress, isRepeatable, natural } from '../tools.ts';
import { OUTCOME } from '../whose.ts';
import type { Start, Write } from './writes.ts';

/** What happened around all tasks of a schedule. */
export interface Around extends Pick<Storm, 'strikes' | 'runs' | 'invokes' | 'direct'> {
  /** Starts that were asked for, and executions, by `<taskId>-r<round>`. */
  readonly starts: ReadonlyMap<string, readonly Start[]>;
  readonly executions: ReadonlyMap<string, string>;
  /** When disturbances moved the clock, and by how much. */
  readonly moves: readonly { readonly at: number; readonly ms: number }[];
  /** Runs that a disturbance stopped. */
  readonly stopped: ReadonlySet<string>;
  /** When the faults ended, by the clock of the cloud. */
  readonly calmAt: number;
  /** So many times faster than it says runs a timeout. */
  readonly timeScale: number;
}

/** A task that has failed. */
export interface Failure {
  readonly record: TaskRecord;
  /** By which it failed. */
  readonly write: Write;
  /** As planned; undefined where that is not known. */
  readonly task: PlannedTask | undefined;
  /** `id`: its client was given its id; `promise`: and would not make the call again, as it has no key for it. */
  readonly told: 'nothing' | 'id' | 'promise';
}

interface Case extends Failure {
  readonly around: Around;
  /** Of the round in which it failed. */
  readonly run: string;
  readonly reason: string;
  /** That struck a call of this task. */
  readonly strikes: readonly Strike[];
}
type Cause = (one: Case) => boolean;

/** In ms: all attempts of a start have ended this long after the last moment to begin one. */
const SLACK = 5_000;
/** Each sweep comes up to a minute late. */
const SWEEPS = 120_000;
const FINISH_TRIES = 13;
const INVOKE_TRIES = 7;
const CRASHES = 3;
/** The workflow calls its function 13 times, a run of `defineTool` puts for a minute. The AWS SDK may repeat each of them. */
const STORE_TRIES = 13;
const THROTTLED = 'Lambda.TooManyRequestsException';
const THROTTLED_TRIES = 2_501;

/** What must have happened for a task to fail with this message. */
const MESSAGES: Readonly<Record<string, Cause>> = {
  'The task could not be started': neverStarted,
  'The run of the tool ended without a result': runDied,
  'The task of this idempotency key has expired: use a new key': ({ record, ...one }) =>
    record.round === 1 && record.digest !== undefined && hasDied(one),
  'No answer came before the deadline': ({ record, write, told, task, around }) =>
    write.at > record.deadlineAt &&
    (around.calmAt > record.deadlineAt || told === 'nothing' || task?.answers === 'never'),
  'The tool did not finish in time': tooLate,
  // The judge of operators knows whether one has.
  'An operator of the server ended the task': ({ record: { events = [] } }) =>
    events.some(({ what, by }) => what === 'failed' && by === 'operator'),
};

/** And with this reason, where the message is about the tool. */
const REASONS: Readonly<Record<string, Cause>> = {
  'Runtime.ExitError': crashed,
  'States.Timeout': ranOut,
  'Lambda.SdkClientException': notInvoked,
  'Lambda.ServiceException': notInvoked,
  [THROTTLED]: notInvoked,
  ResultStoreError: notStored,
};

/** Whether a task that failed has a cause to have failed so, and not otherwise. */
export function isExplained(failure: Failure, around: Around): boolean {
  const { record, task } = failure;
  const { message, data } = JSON.parse(record.error ?? '{}') as RpcError;
  const { reason = '' } = (data ?? {}) as { reason?: string };
  const strikes = around.strikes.filter(({ taskId }) => taskId === record.taskId);
  const one = { ...failure, around, reason, strikes, run: `${record.taskId}-r${record.round}` };
  const cause = MESSAGES[message];
  if (cause !== undefined) return cause(one);
  return (task !== undefined && reason === natural(task)) || (REASONS[reason] ?? toolWasStruck)(one);
}

/** A task that ended with an error of its tool. */
export interface Refusal extends Pick<Failure, 'record' | 'write'> {
  readonly task: PlannedTask;
  readonly text: string | undefined;
  /** Whether a run has told the URLs of both waits. */
  readonly given: boolean;
}

const REFUSED =
  /^(Link 'approval'|Webhook 'paid'|(?:Sleep|Wait) 'nap') ends after the deadline of its task, (\S+): give the tool/;

/**
 * Whether `charge_and_wait` had to refuse a wait: the first run that came to it was so late that it would end past the deadline.
 * A wait that was stored keeps its end, so no later run refuses it.
 */
export function isTooLateToWait({ record, write, task, text = '', given }: Refusal, around: Around): boolean {
  const [, wait, deadline] = REFUSED.exec(text) ?? [];
  const isNap = wait?.endsWith("'nap'") === true;
  const { nap = 0, polls = 0, seconds = 0 } = task.args;
  const ends = write.at + (isNap ? nap * (1 + polls) : seconds) * 1_000;
  const { strikes, moves } = around;
  const wasLate = moves.length > 0 || strikes.some((strike) => isDeath(strike) || strike.taskId === record.taskId);
  return (
    deadline === new Date(record.deadlineAt).toISOString() && given === isNap && ends > record.deadlineAt && wasLate
  );
}

/** It stores large results, by the same number of tries as the last write of a workflow. */
const byTaskEvents = ({ caller }: Pick<Strike, 'caller'>): boolean => caller.startsWith('ServerTaskEvents');
const by = (name: string) => (strike: Strike) => matchesLogicalId(strike.caller, name);
const isDeath = ({ fault }: Strike) => kills(fault);

function hasDied({ run, around }: Pick<Case, 'run' | 'around'>): boolean {
  const status = around.executions.get(run);
  return status !== undefined && status !== 'RUNNING' && status !== 'SUCCEEDED';
}

function movedBetween(from: number, to: number, { moves }: Around): number {
  return moves.reduce((sum, { at, ms }) => (at >= from && at <= to ? sum + ms : sum), 0);
}

/** A client with the promise of a task sees this only if the clock was moved between the record and its start. */
function neverStarted(one: Case): boolean {
  const { record, around, told, strikes, run, write } = one;
  const starts = (around.starts.get(run) ?? []).filter(({ done }) => done);
  const inTime = starts.some(({ at }) => at <= record.createdAt + limits.startWithin);
  const timeFlew = movedBetween(record.createdAt, write.at, around) >= limits.startWithin - SLACK;
  if (record.round !== 1) return false;
  if (told === 'promise') return !inTime && timeFlew;
  // It was started, and its starter got no answer: the record was fenced then, and no client has its id.
  if (inTime) return told === 'nothing' && record.digest === undefined && strikes.some(isStart);
  return timeFlew || startWasStruck(one);
}

const isStart = ({ operation }: Strike) => operation === 'StartExecution';

function startWasStruck({ record, strikes, around }: Case): boolean {
  const endpoint = by('ServerEndpoint');
  if (record.rerunOf !== undefined && strikes.some(({ caller }) => isOperator(caller))) return true;
  return strikes.some(endpoint) || around.strikes.some((strike) => isDeath(strike) && endpoint(strike));
}

/** By the operator, or because its last write failed until it gave up. */
function runDied({ around, run, strikes }: Case): boolean {
  const writes = strikes.filter(
    ({ operation, caller, about }) =>
      (operation === 'UpdateItem' && /^Server(Standard|Express|Machine)/.test(caller)) ||
      about === OUTCOME ||
      byTaskEvents({ caller }),
  );
  const gaveUp = writes.length >= FINISH_TRIES;
  return hasDied({ run, around }) && (around.stopped.has(run) || gaveUp);
}

/** The clock was moved, or no answer said how the run ended. */
function tooLate(one: Case): boolean {
  const { record, write, around, strikes, run } = one;
  if (write.at <= record.deadlineAt + limits.lateWrite) return false;
  if (around.calmAt > record.deadlineAt) return true;
  if (isExpress(record)) return lostLate(one);
  if (!around.executions.has(run)) return one.told !== 'promise' && startWasStruck(one);
  const reconciler = by('ServerReconcilerFunction');
  const deaf = strikes.some((strike) => strike.service === 'events' || reconciler(strike));
  return hasDied(one) && (deaf || around.strikes.some((strike) => isDeath(strike) && reconciler(strike)));
}

/** Its last run on Express was lost, and from the calm on there was no time for the two sweeps that start another one. */
function lostLate({ record, around, strikes, run }: Case): boolean {
  const noTime = around.calmAt + limits.firstDue + ENGINES.express.dead + SWEEPS > record.deadlineAt;
  return noTime && (strikes.length > 0 || around.executions.get(run) !== 'SUCCEEDED' || around.strikes.some(isDeath));
}

/** A worker that had begun with it died, or an unknown one that was about to begin. */
function crashed({ around, run, record, write, strikes }: Case): boolean {
  const runs = around.runs.get(run) ?? [];
  const invokes = around.invokes.get(run) ?? [];
  const struck = strikes.filter((strike) => strike.run === run && strike.operation === 'Invoke').length;
  if (isRepeatable(record) && invokes.length + struck < CRASHES) return false;
  const deaths = around.strikes.filter((strike) => isDeath(strike) && by('Tools')(strike) && strike.at <= write.at);
  return deaths.some(
    ({ worker, ...strike }) =>
      strike.run === run || runs.some((begun) => begun.worker === worker) || invokes.length > runs.length,
  );
}

/** Since it was started it has had the time that its last try might take: when a try begins is heard a little late. */
function ranOut({ around, run, record, write }: Case): boolean {
  const begun = around.invokes.get(run)?.findLast(({ at }) => at <= write.at)?.at;
  const start = around.starts.get(run)?.find(({ done }) => done)?.at;
  if (begun === undefined || start === undefined) return around.calmAt > record.deadlineAt;
  const whole = record.deadlineAt - record.createdAt;
  const most = isExpress(record) ? Math.min(whole, ENGINES.express.work) : whole;
  const seconds = Math.max(1, Math.floor(Math.min(most, record.deadlineAt - begun) / 1_000));
  const limit = (seconds * 1_000) / around.timeScale;
  const moved = movedBetween(start, write.at, around);
  // A clock that is moved just as a try begins takes its time away, which is counted from the moment before.
  return write.at - start - moved >= limit - 20 || moved >= limit;
}

/**
 * Each try failed. Throttles do not count among the tries of other errors. Where the function may have run and may not be
 * repeated, one is enough.
 */
function notInvoked({ strikes, run, reason, record }: Case): boolean {
  const struck = strikes.filter((strike) => strike.run === run && strike.operation === 'Invoke').map(invokeError);
  const same = struck.filter((error) => (error === THROTTLED) === (reason === THROTTLED) && error !== '');
  if (!struck.includes(reason)) return false;
  if (reason === THROTTLED) return same.length >= THROTTLED_TRIES;
  return !isRepeatable(record) || same.length >= INVOKE_TRIES;
}

function invokeError({ fault }: Strike): string {
  if (typeof fault === 'object' && 'error' in fault) return `Lambda.${fault.error}`;
  return fault === 'drop' ? 'Lambda.SdkClientException' : '';
}

/** S3 failed each try of one round to store its result. */
function notStored({ strikes, run }: Case): boolean {
  const failed = strikes.filter(
    (strike) => strike.operation === 'PutObject' && strike.run === run && isFailure(strike),
  );
  return failed.length >= STORE_TRIES;
}

const isFailure = ({ fault }: Strike) => fault === 'drop' || (typeof fault === 'object' && 'error' in fault);

/** The tool passed on the error of its own call to AWS. */
function toolWasStruck({ strikes, reason }: Case): boolean {
  const lost = ['Error', 'TimeoutError', 'AbortError'];
  return strikes
    .filter(({ service, caller }) => service === 'dynamodb' && matchesLogicalId(caller, 'Tools'))
    .some(({ fault }) =>
      typeof fault === 'object' && 'error' in fault ? fault.error === reason : lost.includes(reason),
    );
}
