import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import standalone from 'ajv/dist/standalone/index.js';
import type { JsonSchema, ToolEntry } from '../functions/mcp/manifest.ts';

const DRAFT_07 = 'http://json-schema.org/draft-07/schema';
const DRAFT_2020 = 'https://json-schema.org/draft/2020-12/schema';
/** Keywords that the compiled code gets wrong in some schemas: refused rather than misjudged. */
const REFUSED = ['$dynamicRef', '$dynamicAnchor', '$recursiveRef', 'unevaluatedItems'];

/**
 * CommonJS code whose exports `inputs` and `outputs` judge arguments and structured content of the tools, in their
 * order: schemas are compiled here, at synth, so that a call never compiles. `ownProperties` keeps
 * `constructor` from counting as present.
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
      allErrors: true,
      strict: false,
      validateFormats: false,
    });
    const code = standalone.default(ajv, ajv.compile(schema));
    return `(() => { const module = { exports: {} }; let exports = module.exports;\n${code}\nreturn module.exports; })()`;
  } catch (error) {
    throw new Error(`${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
