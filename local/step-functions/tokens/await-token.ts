import { StatesError } from '../errors.ts';
import type { Answer } from '../journal/records.ts';
import type { Timers } from '../timers.ts';
import type { Tokens } from './tokens.ts';

/** When a task with a token is late. */
interface AwaitedTimes {
  /** The end of its timeout, in epoch milliseconds. */
  readonly due: number;
  /** Milliseconds of workflow time between two heartbeats. */
  readonly heartbeat: number;
  /** Resolves once the answer is in the journal. */
  readonly kept: Promise<void>;
}

interface AwaitContext {
  readonly tokens: Pick<Tokens, 'open'>;
  readonly timers: Timers;
  readonly now: () => number;
}

/**
 * Takes the first of an answer, a timeout and a missed heartbeat. What comes after its time by the clock is too late, even
 * before the timer. Returns a function that ends the wait.
 */
export function awaitToken(
  token: string,
  { due, heartbeat, kept }: AwaitedTimes,
  answer: (answer: Answer) => void,
  { tokens, timers, now }: AwaitContext,
): () => void {
  const nextBeat = () => timers.due(now(), heartbeat);
  // A heartbeat is not in the journal: after a restart its time begins again, as no client could send one meanwhile.
  let beatDue = nextBeat();
  const end = () => {
    endTimeout();
    endBeat();
    close();
  };
  const settle = (given: Answer) => {
    end();
    answer(given);
  };
  const fail = (error: string) => settle({ error, cause: '' });
  const late = () => {
    if (now() < Math.min(due, beatDue)) return false;
    fail(due <= beatDue ? 'States.Timeout' : 'States.HeartbeatTimeout');
    return true;
  };
  const startBeat = () => timers.at(beatDue, () => fail('States.HeartbeatTimeout'));
  const endTimeout = timers.at(due, () => fail('States.Timeout'));
  let endBeat = startBeat();
  const close = tokens.open(token, {
    async answer(given) {
      if (late()) throw new StatesError('States.Timeout');
      settle(given);
      return kept;
    },
    beat() {
      if (late()) return false;
      endBeat();
      beatDue = nextBeat();
      endBeat = startBeat();
      return true;
    },
  });
  return end;
}
