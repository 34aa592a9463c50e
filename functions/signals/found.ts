import { type Received, type Receiving, receiveSignal } from '../engine/receive.ts';
import type { TaskRecord } from '../tasks/record.ts';
import type { Signal } from '../tasks/tool-contract.ts';
import type { SignalReply, SignalsContext } from './context.ts';
import { jsonReply, Refused } from './reply.ts';
import type { LinkWait, WebhookWait } from './wait.ts';

/** A wait whose URL is right, and what it has received. */
export interface Found {
  readonly record: TaskRecord;
  readonly name: string;
  readonly wait: LinkWait | WebhookWait;
  /** Whether the task or the wait is over. */
  readonly over: boolean;
  /** The signal that counts. */
  readonly signal?: Signal;
}

/** Stores a signal, if the wait is not over and has none. */
export async function store(
  { record, name, wait }: Found,
  signal: Receiving['signal'],
  context: SignalsContext,
): Promise<Received | undefined> {
  // What was read a moment ago: the write has conditions.
  let first: TaskRecord | undefined = record;
  const read = async () => {
    const seen = first ?? (await context.store.get(record));
    first = undefined;
    return seen;
  };
  return receiveSignal({ read, name, until: wait.until, signal, sleep: context.sleep }, context);
}

/** Says the same to the first request and to its repeats. */
export const received = (signal: Signal): SignalReply =>
  jsonReply(200, { received: true, at: new Date('at' in signal ? signal.at : 0).toISOString() });

/** The refusal of a signal for a wait that has one, or is over. */
export const overWith = (signal: Signal | undefined): Refused =>
  new Refused(410, signal === undefined || 'timedOut' in signal ? 'This is over' : 'This was answered already');
