/** Reads JSON of unknown shape without casts. */

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value as an object; anything else reads as an empty one. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The value as a list; anything else reads as an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function parsedObject(text: unknown): JsonObject | undefined {
  try {
    const parsed: unknown = JSON.parse(String(text));
    return isObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

export function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** CloudFormation writes numbers as numbers or as strings. */
export function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}
