import { limits } from '../tasks/limits.ts';
import type { Caller } from '../tasks/tool-contract.ts';

/**
 * JSON text of what tools see of a verified caller, at most `limits.caller` bytes. What does not fit is left out. It is ASCII: API
 * Gateway hands it from the authorizer to the endpoint. Undefined: nothing is known.
 *
 * @param leftOut gets the names of what does not fit
 */
export function callerText(
  { claims = {}, ...ids }: Caller,
  leftOut: (names: readonly string[]) => void,
): string | undefined {
  const none: string[] = [];
  let kept: Caller = {};
  const keep = (name: string, more: Caller) => {
    if (ascii({ ...kept, ...more }).length <= limits.caller) kept = { ...kept, ...more };
    else none.push(name);
  };
  for (const [name, id] of Object.entries(ids)) if (id !== undefined) keep(name, { [name]: id });
  for (const [name, value] of Object.entries(claims)) {
    keep(name, { claims: Object.fromEntries([...Object.entries(kept.claims ?? {}), [name, value]]) });
  }
  if (none.length > 0) leftOut(none);
  return Object.keys(kept).length > 0 ? ascii(kept) : undefined;
}

const ascii = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
