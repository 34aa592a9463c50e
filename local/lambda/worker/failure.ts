import type { ErrorBody } from '../protocol.ts';

/** An error named by the runtime of AWS; the name becomes the errorType. */
export function runtimeError(name: string, message: string): Error {
  const error = new Error(message);
  error.name = `Runtime.${name}`;
  return error;
}

export function failureBody(error: unknown): ErrorBody {
  if (!(error instanceof Error)) return { errorType: typeof error, errorMessage: String(error), trace: [] };
  return { errorType: error.name, errorMessage: error.message, trace: error.stack?.split('\n') ?? [] };
}

/** The fields that code gave to its error, as far as JSON holds them. */
export function errorFacts(error: unknown): object {
  try {
    return error instanceof Error ? JSON.parse(JSON.stringify({ ...error, name: undefined })) : {};
  } catch {
    return {};
  }
}

export function rejectionBody(reason: unknown): ErrorBody {
  const body = failureBody(runtimeError('UnhandledPromiseRejection', String(reason)));
  return reason instanceof Error ? { ...body, trace: failureBody(reason).trace ?? [] } : body;
}
