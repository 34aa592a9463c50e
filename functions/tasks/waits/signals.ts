import type { TaskRecord } from '../record.ts';
import { isObject, parsed } from '../shape.ts';
import type { Signal } from '../tool-contract.ts';

/** A signal as the record stores it, among the answers. */
export interface StoredSignal {
  /** The round in which it came: the run of a later one gets it. So the input of a round never changes. */
  readonly round: number;
  /** It came while the round still worked. */
  readonly early?: true;
  readonly signal: Signal;
}

type Input = Pick<TaskRecord, 'inputResponses'>;

/** No key of an answer begins like this: see `wireKey`. */
const PREFIX = 'w.';
export const signalKey = (name: string): string => PREFIX + name;
export const isSignalKey = (key: string): boolean => key.startsWith(PREFIX);

/** The signal for a wait, of a record with all its input. */
export function storedSignal({ inputResponses = {} }: Input, name: string): StoredSignal | undefined {
  const key = signalKey(name);
  return Object.hasOwn(inputResponses, key) ? signalIn(inputResponses[key] ?? '') : undefined;
}

/** All signals by name. Sorted, as the table has no order: two starts of a round must send the same text. */
export function storedSignals({ inputResponses = {} }: Input): readonly (readonly [string, StoredSignal])[] {
  return Object.entries(inputResponses)
    .filter(([key]) => isSignalKey(key))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, text]) => {
      const stored = signalIn(text);
      return stored === undefined ? [] : [[key.slice(PREFIX.length), stored] as const];
    });
}

/** What the run of the record's round gets. Undefined: no signal came before it. */
export function signalsOf(record: TaskRecord): Readonly<Record<string, Signal>> | undefined {
  const before = storedSignals(record).filter(([, { round }]) => round < record.round);
  return before.length === 0 ? undefined : Object.fromEntries(before.map(([name, { signal }]) => [name, signal]));
}

function signalIn(text: string): StoredSignal | undefined {
  const stored = parsed(text);
  return isObject(stored) && isObject(stored.signal) ? (stored as unknown as StoredSignal) : undefined;
}
