import { end } from '../../engine/end.ts';
import { traitsOf } from '../../tasks/engines.ts';
import { failure } from '../../tasks/failures.ts';
import { OPEN, type Status, type TaskKey } from '../../tasks/record.ts';
import { type Change, isTerminal } from '../../tasks/transitions/change.ts';
import { cancel, fail } from '../../tasks/transitions/end.ts';
import type { OperatorContext } from '../context.ts';
import { OperatorError } from '../errors.ts';
import { byOperator, type Operator, type Outcome, orUnknown, overAlready, readRecord, reported } from './act.ts';
import { withRights } from './rights.ts';

/**
 * Ends a task as cancelled, then stops its run. Throws OperatorError.
 *
 * @param among the statuses in which the task was chosen: in another one by now it goes on. @default all of open tasks
 */
export function cancelTask(
  key: TaskKey,
  operator: Operator,
  context: OperatorContext,
  among?: readonly Status[],
): Promise<Outcome> {
  const change = (now: number): Change => {
    const cancelled = cancel(now);
    return { ...cancelled, set: { ...cancelled.set, statusMessage: 'Cancelled by an operator' } };
  };
  return endTask('cancel', key, change, operator, context, among);
}

/** As `cancelTask`, but the task is failed. The client does not see the operator's reason. Throws OperatorError. */
export function failTask(
  key: TaskKey,
  operator: Operator,
  context: OperatorContext,
  among?: readonly Status[],
): Promise<Outcome> {
  return endTask('fail', key, (now) => fail(failure('EndedByOperator'), now), operator, context, among);
}

async function endTask(
  act: 'cancel' | 'fail',
  key: TaskKey,
  change: (now: number) => Change,
  operator: Operator,
  context: OperatorContext,
  among: readonly Status[] = OPEN,
): Promise<Outcome> {
  const read = async () => {
    const record = await readRecord(key, false, context);
    if (isTerminal(record.status) || among.includes(record.status)) return record;
    throw new OperatorError(`Not done: it is ${record.status} by now`);
  };
  const stored = await read();
  const now = context.now();
  const over = overAlready(stored, now);
  const marked = byOperator(stored, change(now), act === 'cancel' ? 'cancelled' : 'failed', operator);
  const rights = withRights(context, { policy: 'act', otherwise: 'Not done', action: 'change it' });
  const say = (done: boolean, message: string) => reported(act, stored, operator, { done, message }, context);
  const acting = async () => {
    if (over !== undefined) return say(false, `Nothing to ${act}: ${over}`);
    const { record, written, late, runs } = await end(stored, marked, read, rights);
    if (!written) {
      const why = overAlready(record, now) ?? `it has changed meanwhile, and is ${record.status}: try again`;
      return say(false, `Not done: ${why}`);
    }
    if (late) return say(false, 'Its deadline had passed: it is failed, as every reader was about to see');
    const run = traitsOf(stored).canBeStopped
      ? `Its run is stopped${runs ? ' within some minutes: it could not be stopped now' : ''}`
      : 'Its run cannot be stopped: it goes on until its tool notices, and changes nothing';
    return say(true, `${act === 'cancel' ? 'Cancelled' : 'Failed'}. ${run}`);
  };
  return orUnknown(acting(), rights, (message) => say(false, message));
}
