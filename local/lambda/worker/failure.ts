import type { ErrorBody } from '../protocol.ts';

/** An error whose name AWS's own runtime gives: it shows as the errorType. */
export function runtimeError(name: string, message: string): Error {
  const error = new Error(message);
  error.name = `Runtime.${name}`;
  return error;
}

export function failureBody(error: unknown): ErrorBody {
  if (!(error instanceof Error)) return { errorType: typeof error, errorMessage: String(error), trace: [] };
  return { errorType: error.name, errorMessage: error.message, trace: error.stack?.split('\n') ?? [] };
}

export function rejectionBody(reason: unknown): ErrorBody {
  const body = failureBody(runtimeError('UnhandledPromiseRejection', String(reason)));
  return reason instanceof Error ? { ...body, trace: failureBody(reason).trace ?? [] } : body;
}
