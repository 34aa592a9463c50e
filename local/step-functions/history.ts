import { StatesError } from './errors.ts';

export interface HistoryEvent {
  id: number;
  previousEventId: number;
  /** Epoch milliseconds. */
  timestamp: number;
  type: string;
  details: Record<string, unknown> | undefined;
}

/** The history of one execution, without payloads: 20,000 histories of 256 KiB each would fill the memory. */
export interface History {
  events: HistoryEvent[];
  /** Names of the states it entered. */
  states: string[];
  transitions: number;
}

// This limit of AWS also ends a machine that loops endlessly.
const EVENT_LIMIT = 25_000;

/** @param transitions of an execution that closed in an earlier process: nothing else of its history is known */
export function newHistory(transitions = 0): History {
  return { events: [], states: [], transitions };
}

export type Recorder = ReturnType<typeof createRecorder>;

/** Writes one history. It is a separate object, because a closed execution keeps its history but not its recorder. */
export function createRecorder(history: History, now: () => number) {
  const { events, states } = history;
  let ended = false;

  const append = (type: string, previousEventId: number, timestamp: number, details: HistoryEvent['details']) =>
    events.push({ id: events.length + 1, previousEventId, timestamp, type, details });
  /** Records an event after `previous` and returns its id. */
  const add = (type: string, previous: number, details?: HistoryEvent['details']): number => {
    if (ended) return previous;
    if (events.length >= EVENT_LIMIT - 1) {
      const cause = `The execution reached the maximum number of history events (${EVENT_LIMIT}).`;
      throw new StatesError('States.Runtime', cause);
    }
    return append(type, previous, now(), details);
  };

  return {
    add,
    entered(type: string, state: string, previous: number): number {
      const id = add(`${type}StateEntered`, previous, { name: state });
      states.push(state);
      history.transitions += 1;
      return id;
    },
    retried(): void {
      history.transitions += 1;
    },
    /** Records the last event, at this time. Later events are dropped. */
    end(type: string, timestamp: number, details?: HistoryEvent['details']): void {
      if (!ended) append(type, events.length, timestamp, details);
      ended = true;
    },
  };
}
