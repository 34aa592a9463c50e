import { Script } from 'node:vm';
import { limits } from '../tasks/limits.ts';
import { logEvent } from '../tasks/log.ts';
import type { Validator } from './manifest.ts';

/** Only a script with a timeout can end running JavaScript, regular expressions included. */
const CHECK = Symbol.for('mcp-task-server.check');
const holder = globalThis as typeof globalThis & { [CHECK]?: () => boolean };
const script = new Script(`globalThis[Symbol.for('mcp-task-server.check')]()`);

/** A check that got less than this share of the processor has shown nothing: a Lambda function of 512 MB gets 0.29. */
const STARVED = 0.2;
const TRIES = 4;

/** Node 22 has no processor time of one thread; other threads make it larger there, which only ends a check earlier. */
const processorTime = () => (process.threadCpuUsage ?? process.cpuUsage).call(process);

/** Milliseconds that checks took in this turn of the event loop. A list checks many results in one turn. */
let spent = 0;

/**
 * A validator with a time limit: with some values a `pattern` or a `uniqueItems` takes hours. A value that takes too
 * long is invalid, and `errors` says so. A busy machine does not make a value invalid: a check that hardly got the
 * processor is repeated.
 *
 * @param what what is checked, for the operator's log
 */
export function bounded(validate: Validator, what: string): Validator {
  const check: Validator = (value) => {
    for (let left = TRIES; ; left -= 1) {
      const timeout = Math.max(limits.check.together - spent, limits.check.least);
      const before = performance.now();
      const usage = processorTime();
      let starved = false;
      try {
        holder[CHECK] = () => validate(value);
        const fits = script.runInThisContext({ timeout }) as boolean;
        check.errors = validate.errors ?? null;
        return fits;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
        const { user, system } = processorTime();
        starved = left > 1 && user + system - usage.user - usage.system < 1000 * timeout * STARVED;
        if (starved) continue;
        logEvent('schema_too_slow', { what, ms: timeout });
        check.errors = [{ instancePath: '', message: 'take too long to check: make texts and lists shorter' }];
        return false;
      } finally {
        delete holder[CHECK];
        if (spent === 0) setImmediate(() => (spent = 0));
        if (!starved) spent += Math.ceil(performance.now() - before);
      }
    }
  };
  return check;
}
