import { StatesError } from './errors.ts';

/** 256 KiB of UTF-8: the hard limit on every input, argument, result and output. */
export const PAYLOAD_LIMIT = 262_144;

/** The JSON text of a value, refused above the limit; `what` is the state or task that the cause names. */
export function payloadText(value: unknown, what: string): string {
  const text = JSON.stringify(value ?? null);
  if (Buffer.byteLength(text) > PAYLOAD_LIMIT) {
    const cause = `The state/task '${what}' returned a result with a size exceeding the maximum number of bytes service limit.`;
    throw new StatesError('States.DataLimitExceeded', cause);
  }
  return text;
}

/** A copy of the value as plain JSON within the limit, as at every border between states. */
export function payload(value: unknown, what: string): unknown {
  return JSON.parse(payloadText(value, what));
}
