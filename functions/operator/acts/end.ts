import { overdue } from '../../tasks/deadlines.ts';
import { failure } from '../../tasks/failures.ts';
import type { TaskKey } from '../../tasks/record.ts';
import { type Change, cancel, fail } from '../../tasks/transitions.ts';
import type { OperatorContext } from '../context.ts';
import { isExpress } from '../runs.ts';
import {
  byOperator,
  keepPayload,
  type Operator,
  type Outcome,
  overAlready,
  readRecord,
  stopRun,
  told,
  write,
} from './act.ts';

/** Ends a task as cancelled, then stops its run. Throws OperatorError. */
export function cancelTask(key: TaskKey, operator: Operator, context: OperatorContext): Promise<Outcome> {
  const change = (now: number): Change => {
    const cancelled = cancel(now);
    return { ...cancelled, set: { ...cancelled.set, statusMessage: 'Cancelled by an operator' } };
  };
  return end('cancel', key, change, operator, context);
}

/** Ends a task as failed, then stops its run. The client does not see the operator's reason. Throws OperatorError. */
export function failTask(key: TaskKey, operator: Operator, context: OperatorContext): Promise<Outcome> {
  return end('fail', key, (now) => fail(failure('EndedByOperator'), now), operator, context);
}

async function end(
  act: 'cancel' | 'fail',
  key: TaskKey,
  change: (now: number) => Change,
  operator: Operator,
  context: OperatorContext,
): Promise<Outcome> {
  const record = await readRecord(key, false, context);
  const now = context.now();
  const over = overAlready(record, now);
  if (over !== undefined) {
    // Who ended it may have crashed before the stop.
    if (record.status === 'cancelled') await stopRun(record, context);
    return told(act, record, operator, { done: false, message: `Nothing to ${act}: ${over}` }, context);
  }
  // After its deadline, the only change is the failure that readers will see.
  const late = overdue(record, now);
  const ended = keepPayload(
    late ?? byOperator(record, change(now), act === 'cancel' ? 'cancelled' : 'failed', operator),
  );
  const written = await write(record, ended, 'act', context);
  if (!written) {
    const after = await readRecord(key, false, context);
    const why = overAlready(after, now) ?? `it has changed meanwhile, and is ${after.status}: try again`;
    return told(act, after, operator, { done: false, message: `Not done: ${why}` }, context);
  }
  await stopRun(record, context);
  if (late !== undefined) {
    const message = 'Its deadline had passed: it is failed, as every reader was about to see';
    return told(act, record, operator, { done: false, message }, context);
  }
  const run = isExpress(record, context.server.tools.get(record.tool))
    ? 'Its run is on Express and cannot be stopped: it goes on until its tool looks, and changes nothing'
    : 'Its run is stopped';
  const message = `${act === 'cancel' ? 'Cancelled' : 'Failed'}. ${run}`;
  return told(act, record, operator, { done: true, message }, context);
}
