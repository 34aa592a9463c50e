import type { JsonSchema, ParamHeader } from '../functions/mcp/manifest.ts';

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const TYPES = ['string', 'integer', 'boolean'];
/** Keywords below which a mark is found, and those below which it has no place: not every call reaches it (D-08). */
const ELSEWHERE = [
  'items',
  'prefixItems',
  'oneOf',
  'anyOf',
  'allOf',
  'not',
  'if',
  'then',
  'else',
  '$defs',
  'definitions',
];

/** The `x-mcp-header` marks of a schema, checked (D-08). */
export function paramHeaders(schema: JsonSchema, refuse: (problem: string) => never): ParamHeader[] {
  const found = marks(schema, [], refuse);
  const names = found.map(({ header }) => header.toLowerCase());
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) refuse(`x-mcp-header '${twice}' is used twice`);
  return found;
}

function marks(schema: JsonSchema, path: readonly string[], refuse: (problem: string) => never): ParamHeader[] {
  for (const keyword of ELSEWHERE) {
    if (keyword in schema && JSON.stringify(schema[keyword]).includes('"x-mcp-header"')) {
      refuse(`x-mcp-header has no effect below '${keyword}': mark a property that is reached by 'properties' alone`);
    }
  }
  const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
  return Object.entries(properties).flatMap(([name, property]) => {
    const here = [...path, name];
    const below = marks(property, here, refuse);
    const header = property['x-mcp-header'];
    if (header === undefined) return below;
    const at = here.join('.');
    if (typeof header !== 'string' || !TOKEN.test(header)) refuse(`x-mcp-header of '${at}' is not a header name`);
    if (!TYPES.includes(String(property.type))) refuse(`x-mcp-header of '${at}' needs type ${TYPES.join(', ')}`);
    return [{ header: String(header), path: here, type: property.type as ParamHeader['type'] }, ...below];
  });
}
