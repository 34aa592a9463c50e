import { signedRequests } from '../tasks/aws/signed-request.ts';
import type { ServerContext } from './context.ts';
import { variable } from './env.ts';
import type { ToolEntry } from './manifest.ts';
import { functionOf } from './wiring.ts';

/** In ms. Longer than the longest timeout of a tool, so the tool's timeout always comes first. */
const PATIENCE = 55_000;

/**
 * Invokes forbidden tools, in one attempt: without a task there is no record that could detect a repeated side effect.
 *
 * @param functions their names or ARNs, as in TOOL_FUNCTIONS
 */
export function invoker(functions: readonly string[], env: NodeJS.ProcessEnv): ServerContext['invoke'] {
  const region = variable(env, 'AWS_REGION');
  const origin = env.AWS_ENDPOINT_URL_LAMBDA ?? env.AWS_ENDPOINT_URL ?? `https://lambda.${region}.amazonaws.com`;
  const request = signedRequests('lambda', new URL(origin), region, PATIENCE);
  return async (tool: ToolEntry, event: string) => {
    const path = `/2015-03-31/functions/${encodeURIComponent(functionOf(tool, functions))}/invocations`;
    const abortSignal = AbortSignal.timeout(tool.timeout);
    try {
      const { status, headers, body } = await request({ method: 'POST', path, body: Buffer.from(event) }, abortSignal);
      const text = body.toString() || 'null';
      if (status !== 200) throw refused(status, headers['x-amzn-errortype']);
      if (headers['x-amz-function-error'] === undefined) return { text };
      return { error: /"errorType"\s*:\s*"([\w.:-]{1,100})"/.exec(text)?.[1] ?? 'Lambda.Unknown' };
    } catch (error) {
      if (abortSignal.aborted) return { error: 'timeout' };
      throw error;
    }
  };
}

/** Has the shape of an SDK error: its status says whether a retry is worth it. */
function refused(status: number, type: string | undefined): Error {
  return Object.assign(new Error(`Lambda answered ${status} ${type ?? ''}`), { $metadata: { httpStatusCode: status } });
}
