/** The name of an error. Anything else in its place may be text that a tool wrote. */
const NAME = /^[A-Za-z0-9_.:-]{1,128}$/;

export const isErrorName = (value: unknown): value is string => typeof value === 'string' && NAME.test(value);

/**
 * What a log may say of an error: its name, where in the code it was thrown, and the request id of AWS. Never its
 * message: it may quote what a client or a tool sent, as messages of JSON.parse and of AWS do.
 */
export function errorFacts(error: unknown): object {
  if (!(error instanceof Error)) return { error: 'Error' };
  const {
    name,
    code,
    message,
    stack = '',
    $metadata,
  } = error as Error & {
    readonly code?: unknown;
    readonly $metadata?: { readonly httpStatusCode?: number; readonly requestId?: string };
  };
  // The stack repeats the message, whose lines could pass for those of the stack.
  const at = message.includes('\n') ? [] : stack.split('\n').filter((line) => /^ +at .*:\d+:\d+\)?$/.test(line));
  return {
    error: isErrorName(name) ? name : 'Error',
    code: isErrorName(code) ? code : undefined,
    status: $metadata?.httpStatusCode,
    requestId: $metadata?.requestId,
    at: at.slice(0, 3).map((line) => line.trim()),
  };
}
