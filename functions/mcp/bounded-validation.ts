import { Script } from 'node:vm';
import { limits } from '../tasks/limits.ts';
import { logEvent } from '../tasks/log.ts';
import type { Validator } from './manifest.ts';
import { processorTime } from './processor-time.ts';

/** Only a script with a timeout can end running JavaScript, regular expressions included. */
const CHECK = Symbol.for('mcp-task-server.check');
const holder = globalThis as typeof globalThis & { [CHECK]?: () => boolean };
const script = new Script(`globalThis[Symbol.for('mcp-task-server.check')]()`);

/**
 * A check that timed out is repeated if the processor gave it less than this share of its time. A function with 512 MB has 0.29 of a
 * processor (docs/limits.md).
 */
const ENOUGH = 0.7;
const TRIES = 3;
/** The errors of a value whose check took too long: another check may end in time. */
export const TIMED_OUT = [{ instancePath: '', message: 'take too long to check: make texts and lists shorter' }];
/**
 * Timeouts of the checks of one turn that time out, together and by the clock: this many times `limits.check.together`. Enough for 0.29
 * of a processor, and less than 2 s of one that has become free meanwhile.
 */
const ALL_TRIES = 4.5;
/**
 * Beyond that, a repeated check has this many times `limits.check.least`: a function of 512 MB pauses for 14 of each 20 ms. For at most
 * a second more, as a list may have 50 slow results.
 */
const LONGER = 5;
const MORE = 1_000;

/** Milliseconds of the processor that checks took in this turn of the event loop. A list checks many results in one turn. */
let spent = 0;
/** Milliseconds by the clock of the checks of this turn that timed out. */
let waited = 0;
/** Whether a check that took too long is logged in this turn: a list may have 50 of them. */
let isLogged = false;

/**
 * A validator with a time limit: with some values a `pattern` or a `uniqueItems` takes hours. A value that takes too
 * long is invalid, and `errors` says so. A busy machine does not make a value invalid: what counts is the time of the
 * processor, and a check that hardly got it is repeated.
 *
 * @param what what is checked, for the operator's log
 */
export function bounded(validate: Validator, what: string): Validator {
  const check: Validator = (value) => {
    const most = Math.max(limits.check.together - spent, limits.check.least);
    let timeout = most;
    for (let left = TRIES; ; left -= 1) {
      const before = processorTime();
      const tried = tryOnce(() => validate(value), Math.ceil(timeout));
      const used = processorTime() - before;
      if (spent === 0) setImmediate(nextTurn);
      spent += used;
      if (tried !== 'timeout') {
        check.errors = validate.errors ?? null;
        return tried;
      }
      waited += timeout;
      const room = Math.max(limits.check.together * ALL_TRIES - waited, limits.check.least * LONGER);
      if (left === 1 || used >= most * ENOUGH || waited > limits.check.together * ALL_TRIES + MORE) break;
      timeout = Math.min((most * timeout) / used, room);
    }
    if (!isLogged) logEvent('schema_too_slow', { what, ms: Math.round(most) });
    isLogged = true;
    check.errors = TIMED_OUT;
    return false;
  };
  return check;
}

function nextTurn(): void {
  spent = 0;
  waited = 0;
  isLogged = false;
}

/** @param timeout in milliseconds by the clock */
function tryOnce(check: () => boolean, timeout: number): boolean | 'timeout' {
  try {
    holder[CHECK] = check;
    return script.runInThisContext({ timeout }) as boolean;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return 'timeout';
    throw error;
  } finally {
    delete holder[CHECK];
  }
}
