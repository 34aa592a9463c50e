import type { JsonSchema, ParamHeader } from '../../functions/mcp/manifest.ts';

const MARK = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const TYPES = ['string', 'integer', 'boolean'];

/** Reads and checks the `x-mcp-header` marks of a schema (D-08). */
export function paramHeaders(schema: JsonSchema, refuse: (problem: string) => never): ParamHeader[] {
  const found = marks(schema, [], refuse);
  const names = found.map(({ header }) => header.toLowerCase());
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) refuse(`${MARK} '${twice}' is used twice`);
  if (found.length < countMarks(schema)) refuse(`${MARK} belongs on a property that is reached by 'properties' alone`);
  return found;
}

function marks(schema: JsonSchema, path: readonly string[], refuse: (problem: string) => never): ParamHeader[] {
  return Object.entries(schemasIn(schema)).flatMap(([name, property]) => {
    const here = [...path, name];
    const below = marks(property, here, refuse);
    const header = property[MARK];
    if (header === undefined) return below;
    const at = here.join('.');
    if (typeof header !== 'string' || !TOKEN.test(header)) refuse(`${MARK} of '${at}' is not a header name`);
    if (!TYPES.includes(String(property.type))) refuse(`${MARK} of '${at}' needs type ${TYPES.join(', ')}`);
    return [{ header: String(header), path: here, type: property.type as ParamHeader['type'] }, ...below];
  });
}

function schemasIn({ properties }: JsonSchema): Record<string, JsonSchema> {
  if (typeof properties !== 'object' || properties === null) return {};
  const schemas = Object.entries(properties).filter(([, schema]) => typeof schema === 'object' && schema !== null);
  return Object.fromEntries(schemas) as Record<string, JsonSchema>;
}

/** Counts all marks, including marks that no call reaches. */
function countMarks(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const here = typeof (value as JsonSchema)[MARK] === 'string' ? 1 : 0;
  return here + Object.values(value).reduce<number>((sum, inner) => sum + countMarks(inner), 0);
}
