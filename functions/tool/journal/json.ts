import { isJsonDeeperThan } from '../../tasks/shape.ts';

interface Bounds {
  /** Levels of nesting. */
  readonly depth: number;
  /** Characters of one string. */
  readonly string: number;
}

/** Returns a value as JSON text, or in words that follow its name why it cannot be kept. */
export function jsonOf(
  value: unknown,
  { depth, string }: Bounds,
): { readonly text: string } | { readonly problem: string } {
  let problem = 'is not JSON';
  try {
    // What toJSON returns passes here, too.
    const checked = (_key: string, inner: unknown) => {
      if (typeof inner === 'function' || typeof inner === 'symbol') throw new TypeError();
      if (typeof inner !== 'string' || inner.length <= string) return inner;
      problem = `holds a string of over ${string} characters`;
      throw new TypeError();
    };
    const text = JSON.stringify(value ?? null, checked) ?? 'null';
    return isJsonDeeperThan(text, depth) ? { problem: `is nested deeper than ${depth} levels` } : { text };
  } catch {
    return { problem };
  }
}
