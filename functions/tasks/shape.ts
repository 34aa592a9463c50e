/** Small checks of JSON that clients and tools wrote. */
export type Check = (value: unknown) => boolean;

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const isString: Check = (value) => typeof value === 'string';
export const isNumber: Check = (value) => Number.isFinite(value);
/** Clients refuse an integer that some languages cannot hold. */
export const isInteger: Check = (value) => Number.isSafeInteger(value);
export const isBoolean: Check = (value) => typeof value === 'boolean';
export const isUri: Check = (value) => typeof value === 'string' && URL.canParse(value);
/** With its padding: strict decoders need it. */
export const isBase64: Check = (value) =>
  typeof value === 'string' && value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value);
export const oneOf =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value);
export const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

export const objectOf =
  (check: Check): Check =>
  (value) =>
    isObject(value) && Object.values(value).every(check);

/** An object whose members pass these checks. Members of `optional` may be missing. */
export const has =
  (required: Readonly<Record<string, Check>>, optional: Readonly<Record<string, Check>> = {}): Check =>
  (value) =>
    isObject(value) &&
    Object.entries(required).every(([name, check]) => Object.hasOwn(value, name) && check(value[name])) &&
    Object.entries(optional).every(([name, check]) => value[name] === undefined || check(value[name]));

/** An object whose member `by` names its kind, and which passes the check of that kind. */
export function oneKindOf(by: string, kinds: Readonly<Record<string, Check>>): Check {
  // A Map, since an object has inherited members: 'constructor' would be a kind.
  const checks = new Map<unknown, Check>(Object.entries(kinds));
  return (value) => isObject(value) && checks.get(value[by])?.(value) === true;
}

/** The value of a JSON text. Undefined if it is not JSON: a function may write anything into an envelope. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether JSON is nested deeper than `levels`. Reads no deeper than that. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}

const [QUOTE, BACKSLASH, OPENING, CLOSING] = [0x22, 0x5c, [0x5b, 0x7b], [0x5d, 0x7d]];

/** As isDeeperThan, by the text of the JSON: a walk through a million values takes longer than to parse them. */
export function isJsonDeeperThan(json: string, levels: number): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < json.length; i++) {
    const code = json.charCodeAt(i);
    if (inString && code === BACKSLASH) i++;
    else if (code === QUOTE) inString = !inString;
    else if (inString) continue;
    else if (OPENING.includes(code)) depth++;
    else if (CLOSING.includes(code)) depth--;
    if (depth > levels) return true;
  }
  return false;
}

/** The first `most` characters of a text, or fewer, so that they take at most `bytes` as JSON. */
export function beginning(text: string, most: number, bytes: number): string {
  const some = text.slice(0, most);
  return Buffer.byteLength(JSON.stringify(some)) <= bytes ? some : beginning(some, Math.floor(some.length / 2), bytes);
}
