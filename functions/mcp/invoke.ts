import type { Invocations } from '../tasks/aws/lambda.ts';
import type { ServerContext } from './context.ts';
import type { ToolEntry } from './manifest.ts';
import { functionOf } from './wiring.ts';

/**
 * One attempt, on a new connection: without a task there is no record that could detect a repeated side effect. In ms, longer
 * than the longest timeout of a tool, so the tool's timeout always comes first.
 */
const OPTIONS = { requestTimeout: 55_000, attempts: 1, keepAlive: false };

/**
 * Invokes forbidden tools.
 *
 * @param functions their names or ARNs, as in TOOL_FUNCTIONS
 */
export function invoker(functions: readonly string[]): ServerContext['invoke'] {
  let invoke: Invocations | undefined;
  return async (tool: ToolEntry, event: string) => {
    const abortSignal = AbortSignal.timeout(tool.timeout);
    invoke ??= (await import('#mcp-task-server/lambda')).invocations(OPTIONS);
    try {
      const { Payload, FunctionError } = await invoke(functionOf(tool, functions), event, abortSignal);
      const text = Payload?.transformToString() || 'null';
      if (FunctionError === undefined) return { text };
      return { error: /"errorType"\s*:\s*"([\w.:-]{1,100})"/.exec(text)?.[1] ?? 'Lambda.Unknown' };
    } catch (error) {
      if (abortSignal.aborted) return { error: 'timeout' };
      throw error;
    }
  };
}
