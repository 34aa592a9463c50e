import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import standalone from 'ajv/dist/standalone/index.js';
import type { JsonSchema, ToolEntry } from '../../functions/mcp/manifest.ts';
import { isCheap } from './schema-cost.ts';

const DRAFT_07 = 'http://json-schema.org/draft-07/schema';
const DRAFT_2020 = 'https://json-schema.org/draft/2020-12/schema';
/** Keywords that are refused: the compiled code checks them wrongly in some schemas. */
const REFUSED = ['$dynamicRef', '$dynamicAnchor', '$recursiveRef', 'unevaluatedItems'];

/**
 * CommonJS code whose exports `inputs` and `outputs` check arguments and structured content of the tools, in their
 * order. Schemas are compiled here, at synth, so that no call compiles. With `ownProperties`, an inherited
 * `constructor` does not count as present.
 */
export function validatorsCode(tools: readonly ToolEntry[]): string {
  const inputs = tools.map(({ name, inputSchema }) => compile(`Tool '${name}': inputSchema`, inputSchema));
  const outputs = tools.map(({ name, outputSchema }) =>
    outputSchema === undefined ? 'undefined' : compile(`Tool '${name}': outputSchema`, outputSchema),
  );
  return `exports.inputs = [${inputs.join(',\n')}];\nexports.outputs = [${outputs.join(',\n')}];`;
}

function compile(what: string, schema: JsonSchema): string {
  try {
    const dialect = String(schema.$schema ?? DRAFT_2020).replace(/#$/, '');
    if (dialect !== DRAFT_07 && dialect !== DRAFT_2020) throw new Error(`$schema '${dialect}' is not supported`);
    const text = JSON.stringify(schema);
    const refused = REFUSED.find((keyword) => text.includes(`"${keyword}":`));
    if (refused !== undefined) throw new Error(`the keyword ${refused} is not supported`);
    const ajv = new (dialect === DRAFT_07 ? Ajv : Ajv2020)({
      code: { source: true },
      ownProperties: true,
      // If all errors are collected, maxLength and maxItems protect nothing: the keywords after them are checked, too.
      allErrors: isCheap(schema),
      strict: false,
      validateFormats: false,
    });
    const code = standalone.default(ajv, ajv.compile(schema));
    if (isEndless(schema)) throw new RangeError();
    return `(() => { const module = { exports: {} }; let exports = module.exports;\n${code}\nreturn module.exports; })()`;
  } catch (error) {
    // These errors of Ajv do not help an author.
    const stumbled = error instanceof RangeError || error instanceof TypeError;
    const problem = error instanceof Error ? error.message : String(error);
    throw new Error(
      `${what}: ${stumbled ? 'it is not a JSON Schema, is nested too deep, or refers to itself without end' : problem}`,
    );
  }
}

/** Whether a part refers to itself for the same value: Ajv compiles the schema, but its check never ends. */
function isEndless(root: JsonSchema): boolean {
  const done = new Set<unknown>();
  const loops = (part: unknown, within: ReadonlySet<unknown>): boolean => {
    if (typeof part !== 'object' || part === null) return false;
    if (within.has(part)) return true;
    if (done.has(part)) return false;
    const found = sameValue(part, root).some((same) => loops(same, new Set(within).add(part)));
    done.add(part);
    return found;
  };
  return partsOf(root).some((part) => loops(part, new Set()));
}

/** A schema, and all objects in it. */
function partsOf(part: unknown): unknown[] {
  return typeof part === 'object' && part !== null ? [part, ...Object.values(part).flatMap(partsOf)] : [];
}

/** The parts of a schema that check the same value as the schema itself. */
function sameValue(part: object, root: JsonSchema): unknown[] {
  const { $ref, allOf, anyOf, oneOf, not, if: condition, then: yes, else: no } = part as Record<string, unknown>;
  const lists = [allOf, anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
  return [typeof $ref === 'string' ? partAt($ref, root) : undefined, ...lists, not, condition, yes, no];
}

/** The part that a reference within the same schema names. */
function partAt(ref: string, root: JsonSchema): unknown {
  if (ref !== '#' && !ref.startsWith('#/')) return undefined;
  const names = ref
    .slice(2)
    .split('/')
    .map((name) => decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~'));
  return (ref === '#' ? [] : names).reduce<unknown>((part, name) => (part as Record<string, unknown>)?.[name], root);
}
