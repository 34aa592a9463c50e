import { Annotations, Duration } from 'aws-cdk-lib';
import type { IFunction, IVersion, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { isRepeatable, type ToolEntry } from '../../functions/mcp/manifest.ts';
import { ENGINES, type Engine } from '../../functions/tasks/engines.ts';
import { limits } from '../../functions/tasks/limits.ts';

interface EngineProps {
  readonly engine?: 'standard' | 'express';
  readonly handler?: IFunction;
  readonly stateMachine?: unknown;
}

/** Reads the engine. Calls `refuse` with the remedy for a tool that cannot run on Express. */
export function engineOf(
  { engine = 'standard', handler, stateMachine }: EngineProps,
  { taskSupport, annotations }: Pick<ToolEntry, 'taskSupport' | 'annotations'>,
  refuse: (problem: string) => never,
): 'standard' | 'express' {
  if (engine === 'standard') return engine;
  // An app in JavaScript has no check of types.
  if (engine !== 'express') refuse(`an engine is 'standard' or 'express'`);
  if (stateMachine !== undefined) refuse('a state machine as a tool runs on Standard: leave out the engine');
  if (taskSupport === 'forbidden') refuse('only a task has an engine: set taskSupport, or leave out the engine');
  if (!isRepeatable({ ...(annotations && { annotations }) })) {
    refuse(
      'Express may run a tool more than once: set readOnlyHint or idempotentHint in its annotations if that does no harm, or leave out the engine',
    );
  }
  const most = ENGINES.express.function / 1_000;
  const timeout = timeoutOf(handler);
  if (timeout === 'token') {
    refuse(
      `the timeout of its function is known at deployment only, and a run on Express has room for ${most} seconds: give the function a fixed timeout, or leave out the engine`,
    );
  }
  if (typeof timeout === 'number' && timeout > most) {
    refuse(
      `its function may take ${timeout} seconds, and a run on Express has room for ${most}: lower the timeout of the function, or leave out the engine`,
    );
  }
  return engine;
}

/**
 * The engines whose workflows know the tool. A deployment may move a tool that may be repeated from one engine to the other: its
 * runs find it on both meanwhile.
 */
export function enginesOf(tool: ToolEntry): readonly Engine[] {
  if (tool.engine === 'machine') return ['machine'];
  return isRepeatable(tool) ? ['standard', 'express'] : ['standard'];
}

/** The longest time from the start of a round on Express until its lost run has started again, in milliseconds. */
const AGAIN = limits.firstDue + ENGINES.express.dead + 60_000;

/** Warns of a function whose timeout is unknown, and of a short deadline. The author may know better, so neither is refused. */
export function warnOfEngine(scope: Construct, { name, engine, timeout }: ToolEntry, handler: IFunction): void {
  if (engine !== 'express') return;
  const warn = (id: string, problem: string) =>
    Annotations.of(scope).addWarningV2(`mcp-task-server:${id}`, `Tool '${name}': ${problem}`);
  if (timeoutOf(handler) === undefined) {
    warn(
      'express-function-timeout',
      `its function was made elsewhere, so its timeout is not known here. A run on Express has room for ${ENGINES.express.function / 1_000} seconds: a longer one is cut, and its task fails`,
    );
  }
  if (timeout < AGAIN) {
    warn(
      'express-timeout',
      `a run on Express that AWS loses starts again up to ${AGAIN / 1_000} seconds after its first start, and this tool gives up after ${timeout / 1_000}: its task then fails. Raise its timeout, or leave out the engine`,
    );
  }
}

/**
 * The timeout of a function in seconds; `token` if only the deployment knows it. Undefined: the function was made elsewhere,
 * or its class hides the timeout. Lambda's own default is 3 seconds.
 */
function timeoutOf(handler: IFunction | undefined): number | 'token' | undefined {
  const { lambda = handler } = (handler ?? {}) as Partial<IVersion>;
  // `Function` has this property even if it is undefined.
  if (lambda === undefined || !('timeout' in lambda)) return undefined;
  const { timeout = Duration.seconds(3) } = lambda as LambdaFunction;
  return timeout.isUnresolved() ? 'token' : timeout.toSeconds();
}
