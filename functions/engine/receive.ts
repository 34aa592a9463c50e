import { randomBytes } from 'node:crypto';
import { asOf } from '../tasks/deadlines.ts';
import { InternalError, InvalidParams } from '../tasks/errors.ts';
import { limits } from '../tasks/limits.ts';
import { answerBytes } from '../tasks/questions/add-answers.ts';
import type { TaskRecord } from '../tasks/record.ts';
import { hasRoom, roundInput } from '../tasks/round-input.ts';
import { isLarge, moved } from '../tasks/s3/moved-input.ts';
import type { Signal } from '../tasks/tool-contract.ts';
import { withInputApart } from '../tasks/transitions/answers.ts';
import { after, type Change, isTerminal, isWritten } from '../tasks/transitions/change.ts';
import { receive } from '../tasks/transitions/waits.ts';
import { type StoredSignal, storedSignal } from '../tasks/waits/signals.ts';
import type { EngineContext, RunContext } from './ports.ts';
import { storeInput, unavailable } from './read.ts';

/** Bytes of the input of a round that are kept free for the waits whose time will be over. */
const ROOM = 8_000;
/** After this many lost races with other writers, the caller gets an error and may try again. */
const ATTEMPTS = 25;

/** What storing a signal needs from outside. */
export interface ReceiveContext extends Pick<EngineContext, 'inputs' | 'log' | 'now'> {
  readonly store: Pick<RunContext['store'], 'get' | 'applyBlind'>;
}

/** What a front end says of the signal that it hands in. */
export interface Receiving {
  /** Reads the task as its caller sees it now, again after a lost race. Undefined: there is none. */
  readonly read: () => Promise<TaskRecord | undefined>;
  readonly name: string;
  /** When the wait is over, in ms since the epoch. */
  readonly until: number;
  /** `at`: when it came. */
  readonly signal: (at: number) => Exclude<Signal, { timedOut: true }>;
  /** The change as this caller writes it. */
  readonly marked?: (record: TaskRecord, change: Change) => Change;
  readonly sleep: (ms: number) => Promise<void>;
}

/** What handing in a signal resulted in. */
export type Received =
  /** Stored, now or by an earlier request that was the same. */
  | { readonly outcome: 'stored'; readonly record: TaskRecord; readonly signal: Signal }
  /** The task or the wait is over. `signal`: the one that counts. */
  | { readonly outcome: 'over'; readonly record: TaskRecord; readonly signal?: Signal };

/**
 * Stores the signal for a wait, by one conditional write. The first signal counts; after a lost race the new record decides. It
 * starts no run: see `resumeRound`. A large signal MUST be in S3 before the record refers to it (docs/crash-table.md, row 25).
 * Throws InvalidParams if there is no room for it, InputLost, Unavailable, InternalError.
 *
 * @returns undefined if `read` returns that
 */
export async function receiveSignal(receiving: Receiving, context: ReceiveContext): Promise<Received | undefined> {
  let sent: { readonly change: Change; readonly signal: Signal } | undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const record = await receiving.read();
    if (record === undefined) return undefined;
    // The answer of the write was lost, and the task has ended since: only its events say that the signal was stored.
    if (isTerminal(record.status) && sent && isWritten(record, sent.change)) {
      return { outcome: 'stored', record, signal: sent.signal };
    }
    const now = context.now();
    const over = overAt(record, now);
    const whole = over
      ? record
      : await context.inputs.whole(record).catch((error: unknown) => unavailable(error, 'reading input', context));
    const signal = receiving.signal(now);
    const known = storedSignal(whole, receiving.name)?.signal;
    if (known !== undefined && isSame(known, signal)) return { outcome: 'stored', record, signal: known };
    if (known !== undefined || over || now >= receiving.until) {
      return { outcome: 'over', record, ...(known && { signal: known }) };
    }
    const stored = { round: record.round, ...(record.status === 'working' && { early: true as const }), signal };
    const { change, apart } = added(record, whole, receiving.name, stored, now);
    if (apart) await storeInput(apart.record, apart.text, context);
    const marked = receiving.marked?.(record, change) ?? change;
    if (await context.store.applyBlind(record, marked))
      return { outcome: 'stored', record: after(record, marked), signal };
    sent = { change: marked, signal };
    await receiving.sleep(Math.random() * 20 * attempt);
  }
  throw new InternalError('The task is changing too fast: try again');
}

/** Whether no signal can count any more. */
export const overAt = (record: TaskRecord, now: number): boolean =>
  now > record.deadlineAt || isTerminal(asOf(record, now)?.status ?? 'failed');

/** The change that adds a signal, and the input that is to be stored in S3 before it. */
function added(record: TaskRecord, whole: TaskRecord, name: string, stored: StoredSignal, now: number) {
  const change = marked(receive(record, name, stored, now));
  const received = after(whole, receive(whole, name, stored, now));
  const input = roundInput({ ...received, round: record.round + 1 }, whole.arguments ?? '', false);
  if (answerBytes(received) > limits.answers || !hasRoom(input, ROOM)) {
    throw new InvalidParams('The task has no room for this: what is sent to one task is bounded');
  }
  if (!isLarge(after(record, change))) return { change };
  const apart = moved(received);
  return { change: withInputApart(change, apart.record), apart };
}

const marked = ({ event, ...change }: Change): Change =>
  event === undefined ? change : { ...change, event: { ...event, mark: randomBytes(6).toString('base64url') } };

const isSame = (one: Signal, other: Signal): boolean => withoutTime(one) === withoutTime(other);
const withoutTime = (signal: Signal): string => JSON.stringify({ ...signal, at: 0 });
