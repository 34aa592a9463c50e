import { type Fields, MOST_SECONDS } from '../definition/fields.ts';
import { refuse } from '../place.ts';
import type { Random } from '../random.ts';
import { loadErrorNames, matchesError } from './error-names.ts';

interface Retrier {
  names: readonly string[];
  attempts: number;
  /** Milliseconds before the retry number `retry`, counted from 0. */
  delay(retry: number, random: Random): number;
}

const MOST_ATTEMPTS = 99_999_999;
const MOST_DELAY_SECONDS = 31_622_400;

/** Gives the pause before the next attempt, in ms; undefined if none is left. */
export type NextPause = (error: string) => number | undefined;

/** Reads Retry. Returns a function that counts the retries of one visit, by retrier. */
export function loadRetry(fields: Fields): (random: Random) => NextPause {
  const sources = fields.list('Retry');
  const retriers = sources.map((source, index) => loadRetrier(source, index === sources.length - 1));
  return (random) => {
    const used = retriers.map(() => 0);
    return (error) => {
      const index = retriers.findIndex((retrier) => matchesError(retrier.names, error));
      const [retrier, retry] = [retriers[index], used[index] ?? 0];
      if (retrier === undefined || retry >= retrier.attempts) return undefined;
      used[index] = retry + 1;
      return retrier.delay(retry, random);
    };
  };
}

function loadRetrier(fields: Fields, isLast: boolean): Retrier {
  const names = loadErrorNames(fields, isLast);
  const attempts = fields.number('MaxAttempts', { least: 0, most: MOST_ATTEMPTS }) ?? 3;
  const interval = fields.number('IntervalSeconds', { least: 1, most: MOST_SECONDS }) ?? 1;
  const rate = fields.number('BackoffRate', { least: 1, most: Number.MAX_VALUE, fraction: true }) ?? 2;
  const longest = fields.number('MaxDelaySeconds', { least: 1, most: MOST_DELAY_SECONDS - 1 }) ?? MOST_DELAY_SECONDS;
  const jitter = loadJitter(fields);
  fields.take('Comment');
  fields.close();
  const delay: Retrier['delay'] = (retry, random) => jitter(Math.min(interval * rate ** retry, longest) * 1000, random);
  return { names, attempts, delay };
}

function loadJitter(fields: Fields): (delay: number, random: Random) => number {
  const strategy = fields.take('JitterStrategy') ?? 'NONE';
  if (strategy === 'NONE') return (delay) => delay;
  if (strategy === 'FULL') return (delay, random) => random.number() * delay;
  return refuse(fields.at('JitterStrategy'), 'must be FULL or NONE');
}
