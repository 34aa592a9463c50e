import { Annotations } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import safe from 'safe-regex2';
import type { JsonSchema, ToolEntry } from '../../functions/mcp/manifest.ts';

/** The scalar types of JSON: Ajv finds equal values of these with a table. */
const SCALARS = ['string', 'number', 'integer', 'boolean', 'null'];

/** Adds a warning for each slow part of the schemas of a tool. */
export function warnOfSlowSchemas(scope: Construct, { name, inputSchema, outputSchema }: ToolEntry): void {
  const output = outputSchema === undefined ? [] : slowParts('outputSchema', outputSchema);
  for (const problem of [...slowParts('inputSchema', inputSchema), ...output]) {
    Annotations.of(scope).addWarningV2('mcp-task-server:slow-schema', `Tool '${name}': ${problem}`);
  }
}

/**
 * Finds the parts of a schema whose check can take far more time than the length of the value explains, each with its path
 * and the remedy. The check is stopped after a second (`functions/mcp/bounded-validation.ts`), and the second costs money.
 *
 * @param name the first part of the paths, e.g. `inputSchema`
 */
export function slowParts(name: string, schema: JsonSchema): string[] {
  return [...partsOf(schema, name)].flatMap(({ part, path }) => {
    const patterns = patternsOf(part).filter(({ pattern }) => !safe(pattern));
    const nested = patterns.map(
      ({ key }) =>
        `${path}.${key} has nested quantifiers, or too many: short texts may take exponential time. Write it without them`,
    );
    const unbounded = comparesAll(part) && part.maxItems === undefined;
    const items = `${path}.uniqueItems compares all pairs of items: give it maxItems, or items of a scalar type`;
    return unbounded ? [...nested, items] : nested;
  });
}

/**
 * Whether the time of a check grows only with the length of the value, even if it collects all errors: then `maxLength`
 * and `maxItems` do not stop a long value before `pattern` and `uniqueItems`. False when in doubt.
 */
export function isCheap(schema: JsonSchema): boolean {
  return [...partsOf(schema, '')].every(
    ({ part }) => !comparesAll(part) && patternsOf(part).every(({ pattern }) => isLinear(pattern)),
  );
}

/** Whether a pattern has at most one quantifier of variable length, not on a group, and at a fixed place of the text. */
function isLinear(pattern: string): boolean {
  const bare = pattern.replace(/\\[^1-9k]/g, 'e').replace(/\[[^\]]*\]/g, 'c');
  if (/\\|\)[*+{]|\(\?/.test(bare)) return false;
  const variable = bare.match(/[*+]|\{\d+,\d*\}/g)?.length ?? 0;
  return variable === 0 || (variable === 1 && bare.startsWith('^') && !bare.includes('|'));
}

function comparesAll({ uniqueItems, items }: Part): boolean {
  if (uniqueItems !== true) return false;
  const types = [(items as Part | undefined)?.type].flat();
  return !types.every((type) => SCALARS.includes(String(type)));
}

function patternsOf({ pattern, patternProperties }: Part): { key: string; pattern: string }[] {
  const keys =
    typeof patternProperties === 'object' && patternProperties !== null ? Object.keys(patternProperties) : [];
  return [
    ...(typeof pattern === 'string' ? [{ key: 'pattern', pattern }] : []),
    ...keys.map((key) => ({ key: `patternProperties['${key}']`, pattern: key })),
  ];
}

type Part = Readonly<Record<string, unknown>>;

/** Yields a schema and all objects in it. An object that is not a schema causes a warning at worst. */
function* partsOf(part: unknown, path: string, depth = 0): Generator<{ part: Part; path: string }> {
  // A schema that is nested deeper, or without end, is refused when it is compiled.
  if (typeof part !== 'object' || part === null || depth > 300) return;
  if (!Array.isArray(part)) yield { part: part as Part, path };
  for (const [key, inner] of Object.entries(part)) yield* partsOf(inner, `${path}.${key}`, depth + 1);
}
