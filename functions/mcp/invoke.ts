import { signedRequests } from '../tasks/s3/signed-request.ts';
import type { ServerContext } from './context.ts';
import { variable } from './env.ts';
import type { ToolEntry } from './manifest.ts';
import { functionOf } from './wiring.ts';

/** The longest a direct call may take, and a little more: its own timeout comes first. */
const PATIENCE = 55_000;

/**
 * Invokes forbidden tools. One attempt only: a tool without a task has no record that could tell a repeated side
 * effect. `functions` are their names, or ARNs.
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

/** In the shape of the SDK's own errors, which say by their status whether it is worth to try again. */
function refused(status: number, type: string | undefined): Error {
  return Object.assign(new Error(`Lambda answered ${status} ${type ?? ''}`), { $metadata: { httpStatusCode: status } });
}
