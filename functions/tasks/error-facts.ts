/** The name of an error; anything else that stands in its place may be a text of a tool's. */
const NAME = /^[A-Za-z0-9_.:-]{1,128}$/;

export const isErrorName = (value: unknown): value is string => typeof value === 'string' && NAME.test(value);

/**
 * What a log may say of an error: its kind, where in the code it came from, and which request AWS knows it by. Never its
 * message, which may quote what a client or a tool has sent: those of JSON.parse do, and those of AWS.
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
  // Lines of the message would stand among those of the stack.
  const at = message.includes('\n') ? [] : stack.split('\n').filter((line) => /^ +at .*:\d+:\d+\)?$/.test(line));
  return {
    error: isErrorName(name) ? name : 'Error',
    code: isErrorName(code) ? code : undefined,
    status: $metadata?.httpStatusCode,
    requestId: $metadata?.requestId,
    at: at.slice(0, 3).map((line) => line.trim()),
  };
}
