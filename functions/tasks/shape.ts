/** Small checks of JSON that did not come from us. */
export type Check = (value: unknown) => boolean;

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const isString: Check = (value) => typeof value === 'string';
export const isNumber: Check = (value) => Number.isFinite(value);
/** Clients refuse one that not every language can hold. */
export const isInteger: Check = (value) => Number.isSafeInteger(value);
export const isBoolean: Check = (value) => typeof value === 'boolean';
export const isUri: Check = (value) => typeof value === 'string' && URL.canParse(value);
/** With its padding: strict decoders want it. */
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

/** An object with these members, each as its check wants it; those of `optional` may be missing. */
export const has =
  (required: Readonly<Record<string, Check>>, optional: Readonly<Record<string, Check>> = {}): Check =>
  (value) =>
    isObject(value) &&
    Object.entries(required).every(([name, check]) => Object.hasOwn(value, name) && check(value[name])) &&
    Object.entries(optional).every(([name, check]) => value[name] === undefined || check(value[name]));

/** An object whose member `by` names its kind, checked as one of that kind. */
export function oneKindOf(by: string, kinds: Readonly<Record<string, Check>>): Check {
  // An object has members of its own making: 'constructor' would be a kind.
  const checks = new Map<unknown, Check>(Object.entries(kinds));
  return (value) => isObject(value) && checks.get(value[by])?.(value) === true;
}

/** The value of a JSON text; undefined where it is none: the text of an envelope is whatever a function wrote there. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether JSON is nested deeper than so many levels; looks no deeper itself. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}
