import type { InvokeMessage } from '../protocol.ts';

// A timeout follows the clock of the machine, even if the clock of the function is moved.
const { now } = Date;

/** The context object of a handler. Like the real runtime, it reads constants from the environment. */
export function createContext(invocation: InvokeMessage): Record<string, unknown> {
  const { env } = process;
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName: env.AWS_LAMBDA_FUNCTION_NAME,
    functionVersion: env.AWS_LAMBDA_FUNCTION_VERSION,
    memoryLimitInMB: env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
    logGroupName: env.AWS_LAMBDA_LOG_GROUP_NAME,
    logStreamName: env.AWS_LAMBDA_LOG_STREAM_NAME,
    invokedFunctionArn: invocation.functionArn,
    awsRequestId: invocation.id,
    getRemainingTimeInMillis: () => invocation.deadline - now(),
  };
}
