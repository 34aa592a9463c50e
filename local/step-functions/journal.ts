import { StatesError } from './errors.ts';

export interface HistoryEvent {
  id: number;
  previousEventId: number;
  /** Epoch milliseconds. */
  timestamp: number;
  type: string;
  details?: Record<string, unknown>;
}

/** What one execution did. Payloads are not kept: 20,000 histories of 256 KiB each would be the whole memory. */
export interface Journal {
  readonly events: readonly HistoryEvent[];
  readonly states: readonly string[];
  readonly transitions: number;
  /** Records an event after `previous` and answers its id. */
  add(type: string, previous: number, details?: Record<string, unknown>): number;
  entered(type: string, state: string, previous: number): number;
  retried(): void;
  /** The last event; everything added later is dropped. */
  end(type: string, details?: Record<string, unknown>): void;
  /** Drops events and state names, keeps the count. */
  forget(): void;
}

// Also what ends a machine that loops for ever.
const EVENT_LIMIT = 25_000;

export function createJournal(now: () => number): Journal {
  let events: HistoryEvent[] = [];
  let states: string[] = [];
  let transitions = 0;
  let ended = false;

  const append = (type: string, previousEventId: number, details?: Record<string, unknown>) => {
    const id = events.length + 1;
    events.push({ id, previousEventId, timestamp: now(), type, ...(details && { details }) });
    return id;
  };
  const add: Journal['add'] = (type, previous, details) => {
    if (ended) return previous;
    if (events.length >= EVENT_LIMIT - 1) {
      const cause = `The execution reached the maximum number of history events (${EVENT_LIMIT}).`;
      throw new StatesError('States.Runtime', cause);
    }
    return append(type, previous, details);
  };

  return {
    get events() {
      return events;
    },
    get states() {
      return states;
    },
    get transitions() {
      return transitions;
    },
    add,
    entered(type, state, previous) {
      const id = add(`${type}StateEntered`, previous, { name: state });
      states.push(state);
      transitions += 1;
      return id;
    },
    retried() {
      transitions += 1;
    },
    end(type, details) {
      if (!ended) append(type, events.length, details);
      ended = true;
    },
    forget() {
      events = [];
      states = [];
    },
  };
}
