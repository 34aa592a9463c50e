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
export interface History {
  readonly events: readonly HistoryEvent[];
  readonly states: readonly string[];
  readonly transitions: number;
  /** Records an event after `previous` and answers its id. */
  add(type: string, previous: number, details?: Record<string, unknown>): number;
  entered(type: string, state: string, previous: number): number;
  retried(): void;
  /** The last event, at this instant; everything added later is dropped. */
  end(type: string, timestamp: number, details?: Record<string, unknown>): void;
  /** Drops events and state names, keeps the count. */
  forget(): void;
}

// Also what ends a machine that loops for ever.
const EVENT_LIMIT = 25_000;

/** `before`: transitions of an execution that closed before this process began; nothing else of its history is known. */
export function createHistory(now: () => number, before = 0): History {
  let events: HistoryEvent[] = [];
  let states: string[] = [];
  let transitions = before;
  // Gone with the end: a closed execution is kept for long, and what ran it need not be.
  let clock: (() => number) | undefined = now;

  const append = (event: Omit<HistoryEvent, 'id'>) => {
    const id = events.length + 1;
    events.push({ id, ...event });
    return id;
  };
  const add: History['add'] = (type, previous, details) => {
    if (clock === undefined) return previous;
    if (events.length >= EVENT_LIMIT - 1) {
      const cause = `The execution reached the maximum number of history events (${EVENT_LIMIT}).`;
      throw new StatesError('States.Runtime', cause);
    }
    return append({ previousEventId: previous, timestamp: clock(), type, ...(details && { details }) });
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
    end(type, timestamp, details) {
      if (clock !== undefined) append({ previousEventId: events.length, timestamp, type, ...(details && { details }) });
      clock = undefined;
    },
    forget() {
      events = [];
      states = [];
    },
  };
}
