import { BEFORE_ROUND } from '../attributes.ts';
import { type Engine, engineOf } from '../engines.ts';
import { failure } from '../failures.ts';
import { allRefusals, refusalsOf, withRefusal } from '../input.ts';
import { limits } from '../limits.ts';
import type { TaskRecord } from '../record.ts';
import { type Change, dueBy, unanswered } from './change.ts';
import { failAsSeen } from './end.ts';
import { openEvent } from './event.ts';
import { timedOut } from './waits.ts';

/** A change that answers or asks, with all input in S3. */
export function withInputApart(change: Change, to: TaskRecord): Change {
  const { asked: _asked, arguments: _args, ...rest } = change.set;
  return {
    ...change,
    set: { ...rest, ...(to.inputRef !== undefined && { inputRef: to.inputRef }), inputResponses: {} },
    remove: [...(change.remove ?? []), 'arguments', 'asked'],
  };
}

/**
 * An answer was not valid. The question stays open, and 2025-11-25 streams send it again. After `limits.refusals` of
 * them, to one question or in one round, the task fails: otherwise it would be asked forever. It counts only if nothing has changed since.
 */
export function refuseAnswer(record: TaskRecord, key: string, now: number): Change {
  const refused = withRefusal(record, key);
  const { ofQuestion, ofRound } = limits.refusals;
  if (refusalsOf({ refused }, key) >= ofQuestion || allRefusals(refused) >= ofRound) {
    return { ...failAsSeen(record, failure('AnswerInvalid'), now), updatedAt: record.updatedAt };
  }
  return {
    from: ['input_required'],
    round: record.round,
    // So that no other count is lost, also of the same millisecond.
    updatedAt: record.updatedAt,
    set: { updatedAt: Math.max(now, record.updatedAt + 1), refused },
    ...openEvent('refused', record, now),
  };
}

/**
 * Adds answers to open questions. The write that adds the last one also begins the next round, so no task can be
 * answered but not resumed. Waits beside them stay open, unless their time is over. `outstanding` are the wire keys that
 * are open in `record`, `engine` runs the next round.
 */
export function answer(
  record: TaskRecord,
  outstanding: readonly string[],
  answers: Readonly<Record<string, string>>,
  now: number,
  engine: Engine = engineOf(record),
): Change {
  // As one value: an expression that names each of some hundred answers is too long for DynamoDB.
  const inputResponses = { ...record.inputResponses, ...answers };
  const base = {
    ...unanswered(record),
    from: ['input_required'] as const,
    answers: Object.keys(answers).length,
    ...openEvent('answered', record, now),
  };
  if (Object.keys(answers).length < outstanding.length) return { ...base, set: { updatedAt: now, inputResponses } };
  return {
    ...base,
    set: {
      inputResponses: { ...inputResponses, ...timedOut(record, now) },
      status: 'working',
      round: record.round + 1,
      updatedAt: now,
      dueAt: dueBy(record, now + limits.firstDue),
      ...(engine !== engineOf(record) && { engine }),
    },
    remove: record.reportsFrom === undefined ? BEFORE_ROUND : [...BEFORE_ROUND, 'reportsFrom'],
  };
}
