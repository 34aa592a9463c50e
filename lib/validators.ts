import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import standalone from 'ajv/dist/standalone/index.js';
import type { ToolEntry } from '../functions/mcp/manifest.ts';

const DRAFT_07 = 'http://json-schema.org/draft-07/schema';
const DRAFT_2020 = 'https://json-schema.org/draft/2020-12/schema';
/** Keywords that the compiled code gets wrong in some schemas: refused rather than misjudged. */
const REFUSED = ['$dynamicRef', '$dynamicAnchor', '$recursiveRef', 'unevaluatedItems'];

/**
 * CommonJS code whose exports `t0`, `t1`, … judge the arguments of the tools in their order: schemas are compiled
 * here, at synth, so that a call never compiles. `ownProperties` keeps `constructor` from counting as present.
 */
export function validatorsCode(tools: readonly ToolEntry[]): string {
  return tools
    .map(
      (tool, i) => `exports.t${i} = (() => { const module = { exports: {} }; let exports = module.exports;
${compile(tool)}
return module.exports; })();`,
    )
    .join('\n');
}

function compile(tool: ToolEntry): string {
  try {
    const dialect = String(tool.inputSchema.$schema ?? DRAFT_2020).replace(/#$/, '');
    if (dialect !== DRAFT_07 && dialect !== DRAFT_2020) throw new Error(`$schema '${dialect}' is not supported`);
    const text = JSON.stringify(tool.inputSchema);
    const refused = REFUSED.find((keyword) => text.includes(`"${keyword}":`));
    if (refused !== undefined) throw new Error(`the keyword ${refused} is not supported`);
    const ajv = new (dialect === DRAFT_07 ? Ajv : Ajv2020)({
      code: { source: true },
      ownProperties: true,
      allErrors: true,
      strict: false,
      validateFormats: false,
    });
    return standalone.default(ajv, ajv.compile(tool.inputSchema));
  } catch (error) {
    throw new Error(`Tool '${tool.name}': inputSchema: ${error instanceof Error ? error.message : String(error)}`);
  }
}
