import { BEFORE_QUESTION, RUNNING } from '../attributes.ts';
import { type Failure, failure } from '../failures.ts';
import type { TaskRecord } from '../record.ts';
import { type Waits, waitsOf } from '../waits/waits.ts';
import { askFirst } from './begin.ts';
import { type Change, sourcesOf } from './change.ts';
import { endEvent } from './event.ts';
import { waitAfter } from './waits.ts';

interface Returned {
  readonly text: string;
  readonly asks: boolean;
  readonly isError: boolean;
  /** What the round waits for besides its client. */
  readonly waits?: Waits | undefined;
}

export function cancel(now: number): Change {
  return {
    from: sourcesOf('cancelled'),
    set: { status: 'cancelled', updatedAt: now, statusMessage: 'Cancelled by the client' },
    event: { at: now, what: 'cancelled' },
    remove: RUNNING,
  };
}

export function fail({ reason, error }: Failure, now: number): Change {
  const said = { failure: reason, statusMessage: error.message, error: JSON.stringify(error) };
  return {
    from: sourcesOf('failed'),
    set: { status: 'failed', updatedAt: now, ...said },
    event: { at: now, what: 'failed' },
    remove: RUNNING,
  };
}

/** As fail, but only while the record has the status and the round of this one. */
export function failAsSeen(record: TaskRecord, failed: Failure, now: number): Change {
  const event = endEvent('failed', record, now);
  return { ...fail(failed, now), from: [record.status], round: record.round, event };
}

/**
 * The name of an execution is taken for months after its task has gone: this key belonged to another task before. If
 * the record has changed, the name is this run's: it ended before the answer to its start arrived.
 */
export function keyExpired(record: TaskRecord, now: number): Change {
  return failAsSeen(record, failure('KeyExpired'), now);
}

/**
 * A new task that Step Functions refused to start, and whose client does not have its id. It ends now, and so does its
 * ttl: readers do not see it, it does not count as open, and DynamoDB deletes it.
 */
export function withdraw(record: TaskRecord, now: number): Change {
  const failed = failAsSeen(record, failure('NotStarted', { reason: 'Unavailable' }), now);
  const ttl = Math.max(0, now - record.createdAt);
  return { ...failed, set: { ...failed.set, ttl, expiresAt: Math.ceil(now / 1_000) } };
}

/** Whether it is a call that got HTTP 429: its client calls again. */
export const isWithdrawn = ({ createdAt, updatedAt, ttl, failure }: Ended): boolean =>
  failure === 'NotStarted' && ttl === Math.max(0, updatedAt - createdAt);
type Ended = Pick<TaskRecord, 'createdAt' | 'updatedAt' | 'ttl' | 'failure'>;

/**
 * What a round returned (JSON text), for a workflow that died before it could write it: as
 * `lib/workflow/outcome.jsonata`. Without `args` none are stored.
 */
export function finish(record: TaskRecord, returned: Returned, args: string | undefined, now: number): Change {
  const { text: result, asks, isError, waits } = returned;
  if (waits !== undefined && waitsOf({ waits: JSON.stringify(waits) }) === undefined)
    return failAsSeen(record, failure('WaitInvalid'), now);
  if (asks || waits !== undefined) {
    const asked = { ...askFirst(record, result, args, now), remove: BEFORE_QUESTION };
    return waits === undefined ? asked : waitAfter(asked, record, waits, asks, now);
  }
  const set = { status: 'completed', updatedAt: now, result, isError } as const;
  const event = endEvent('completed', record, now);
  return { from: ['working'], round: record.round, set, remove: RUNNING, event };
}

/** The input of a task was moved to S3 and cannot be read there any more. */
export function loseInput(record: TaskRecord, now: number): Change {
  return failAsSeen(record, failure('InputLost'), now);
}
