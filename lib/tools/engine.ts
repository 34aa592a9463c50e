import type { IFunction, IVersion, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { type Engine, isRepeatable, type ToolEntry } from '../../functions/mcp/manifest.ts';
import { limits } from '../../functions/tasks/limits.ts';

interface EngineProps {
  readonly engine?: Engine;
  readonly handler?: IFunction;
  readonly stateMachine?: unknown;
}

/** Throws through `refuse`, with what to do, for a tool that cannot run on Express. */
export function engineOf(
  { engine = 'standard', handler, stateMachine }: EngineProps,
  { taskSupport, annotations }: Pick<ToolEntry, 'taskSupport' | 'annotations'>,
  refuse: (problem: string) => never,
): Engine {
  if (engine === 'standard') return engine;
  // Not every app is checked by TypeScript.
  if (engine !== 'express') refuse(`an engine is 'standard' or 'express'`);
  if (stateMachine !== undefined) refuse('a state machine as a tool runs on Standard: leave out the engine');
  if (taskSupport === 'forbidden') refuse('only a task has an engine: set taskSupport, or leave out the engine');
  if (!isRepeatable({ ...(annotations && { annotations }) })) {
    refuse(
      'Express may run a tool more than once: set readOnlyHint or idempotentHint in its annotations if that does no harm, or leave out the engine',
    );
  }
  const most = limits.express.function / 1_000;
  const timeout = timeoutOf(handler);
  if (timeout !== undefined && timeout > most) {
    refuse(
      `its function may take ${timeout} seconds, and a run on Express has room for ${most}: lower the timeout of the function, or leave out the engine`,
    );
  }
  return engine;
}

/** In seconds. Only a function of this app has a known timeout; Lambda's own default is 3 seconds. */
function timeoutOf(handler: IFunction | undefined): number | undefined {
  const { lambda = handler } = (handler ?? {}) as Partial<IVersion>;
  return (lambda as Partial<LambdaFunction> | undefined)?.timeout?.toSeconds();
}
