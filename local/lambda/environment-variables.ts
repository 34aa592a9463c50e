import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FunctionSpec } from './types.ts';

/**
 * The variables that Lambda itself sets. The function's own variables win.
 * @param workerId becomes the session token of the worker, so that each call names its worker
 */
export function workerEnvironment(spec: FunctionSpec, workerId: string, now = new Date()): Record<string, string> {
  return {
    AWS_SESSION_TOKEN: workerId,
    AWS_EXECUTION_ENV: `AWS_Lambda_${spec.runtime ?? 'nodejs24.x'}`,
    AWS_LAMBDA_FUNCTION_NAME: spec.name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(spec.memoryMb),
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_FORMAT: spec.logging?.format ?? 'Text',
    ...(spec.logging?.level !== undefined && { AWS_LAMBDA_LOG_LEVEL: spec.logging.level }),
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${spec.name}`,
    AWS_LAMBDA_LOG_STREAM_NAME: logStreamName(now),
    LAMBDA_TASK_ROOT: spec.codePath,
    _HANDLER: spec.handler,
    TZ: ':UTC',
    // Halves the start time of a worker: Node compiles runtime and asset once. The worker hides this variable.
    NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache'),
    ...spec.environment,
  };
}

function logStreamName(now: Date): string {
  const day = now.toISOString().slice(0, 10).replaceAll('-', '/');
  return `${day}/[$LATEST]${randomBytes(16).toString('hex')}`;
}
