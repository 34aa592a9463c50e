import { types } from 'node:util';
import type { ErrorBody } from '../protocol.ts';

/** An error named by the runtime of AWS; the name becomes the errorType. */
export function runtimeError(name: string, message: string): Error {
  const error = new Error(message);
  error.name = `Runtime.${name}`;
  return error;
}

/** Does the same as `toRapidResponse` (`aws-lambda-ric` 3.3.0, Errors.js), also for errors of another realm. */
export function failureBody(error: unknown): ErrorBody {
  try {
    if (!types.isNativeError(error) && !isErrorLike(error)) {
      return { errorType: typeof error, errorMessage: (error as object).toString(), trace: [] };
    }
    return {
      errorType: escaped(error.name),
      errorMessage: escaped(error.message),
      trace: escaped(error.stack as string).split('\n'),
    };
  } catch {
    const errorMessage =
      'callback called with Error argument, but there was a problem while retrieving one or more of its message, name, and stack';
    return { errorType: 'handled', errorMessage };
  }
}

function isErrorLike(error: unknown): error is Error {
  const { name, message, stack } = (error ?? {}) as Partial<Error>;
  return [name, message, stack].every((text) => typeof text === 'string' && text !== '');
}

const escaped = (text: string): string => text.replaceAll('\x7f', '%7F');

/** The fields that code added to its error, as far as JSON can hold them. */
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
