import type { Fields } from '../definition/fields.ts';
import type { Loader } from '../definition/loader.ts';
import { asStatesError, errorOutput, type StatesError } from '../errors.ts';
import type { State, Step, Visit } from '../flow.ts';
import { loadErrorNames, matchesError } from './error-names.ts';
import { type Exit, loadExit, loadNext } from './exit.ts';
import { loadRetry } from './retry.ts';

/** Produces the `$states.result` of a state; called once per attempt. */
export type ProduceResult = (visit: Visit) => Promise<unknown>;

type CatchFailure = (visit: Visit, failure: StatesError) => Promise<Step>;

/**
 * Loads a state with a result, Retry and Catch: Task, Parallel, Map. An attempt covers everything from Arguments to Output
 * and Assign, so a failing Output is retried and caught like a failing task.
 */
export function loadRecoverable(fields: Fields, loader: Loader, produce: ProduceResult): State['visit'] {
  const exit = loadExit(fields, loader, loadNext(fields, loader), ['result']);
  const startCounting = loadRetry(fields);
  const catchFailure = loadCatch(fields, loader);

  return async (visit) => {
    const { replay, history } = visit.run;
    const nextPause = startCounting(replay.random);
    for (let retries = 0; ; retries += 1) {
      const now = withRetryCount(visit, retries);
      try {
        const result = await produce(now);
        return await exit(now, result, { result });
      } catch (thrown) {
        visit.signal.throwIfAborted();
        const failure = asStatesError(thrown);
        const delay = nextPause(failure.error);
        if (delay === undefined) return await catchFailure(now, failure);
        await replay.sleep(visit.state, delay, visit.signal);
        history.retried();
      }
    }
  };
}

function withRetryCount(visit: Visit, retries: number): Visit {
  const state = { ...(visit.context.State as object), RetryCount: retries };
  return { ...visit, context: { ...visit.context, State: state } };
}

/** Loads Catch. The first catcher that names the error handles it; without one the error leaves the flow. */
function loadCatch(fields: Fields, loader: Loader): CatchFailure {
  const sources = fields.list('Catch');
  const catchers = sources.map((source, index) => loadCatcher(source, loader, index === sources.length - 1));
  return (visit, failure) => {
    const catcher = catchers.find(({ names }) => matchesError(names, failure.error));
    if (catcher === undefined) throw failure;
    const error = errorOutput(failure);
    return catcher.exit(visit, error, { errorOutput: error });
  };
}

function loadCatcher(fields: Fields, loader: Loader, isLast: boolean): { names: string[]; exit: Exit } {
  const names = loadErrorNames(fields, isLast);
  const exit = loadExit(fields, loader, loader.target(fields, 'Next'), ['errorOutput']);
  fields.take('Comment');
  fields.close();
  return { names, exit };
}
