import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

export type Era = '2025-11-25' | '2026-07-28';
export const LEGACY: Era = '2025-11-25';
export const MODERN: Era = '2026-07-28';

type Schema = Readonly<Record<string, unknown>>;
type Definitions = Readonly<Record<string, Schema>>;

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const ajv = new Ajv2020({
  strict: false,
  allErrors: true,
  formats: { uri: (text) => URL.canParse(text), byte: BASE64, 'uri-template': true },
});
const number = { type: 'number' };

/**
 * Where the generated JSON is narrower than the TypeScript it was generated from, the TypeScript counts: it says
 * `number` and `JSONValue` there, and the official suite sends a default of 95.5.
 */
const MENDED: Readonly<Record<Era, Definitions>> = {
  '2025-11-25': {
    NumberSchema: {
      type: 'object',
      required: ['type'],
      properties: {
        type: { enum: ['integer', 'number'] },
        title: { type: 'string' },
        description: { type: 'string' },
        default: number,
        minimum: number,
        maximum: number,
      },
    },
  },
  '2026-07-28': { JSONValue: {} },
};

const schemas: Readonly<Record<Era, Definitions>> = { '2025-11-25': load(LEGACY), '2026-07-28': load(MODERN) };
const compiled = new Map<string, ValidateFunction>();

function load(era: Era): Definitions {
  const file = new URL(`../../schemas/${era}.json`, import.meta.url);
  const schema = JSON.parse(readFileSync(file, 'utf8')) as { $defs: Definitions };
  const $defs = { ...schema.$defs, ...MENDED[era] };
  ajv.addSchema({ ...schema, $defs }, `mcp:${era}`);
  return $defs;
}

/** The problems of `value` as a `name` of that revision; none if it fits. */
export function fits(era: Era, name: string, value: unknown): string[] {
  const validate = compiled.get(`${era} ${name}`) ?? compile(era, name);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message, params }) => {
    return `${name}${instancePath} ${message ?? 'is not valid'} ${JSON.stringify(params)}`;
  });
}

function compile(era: Era, name: string): ValidateFunction {
  if (schemas[era][name] === undefined) throw new Error(`${era} publishes no ${name}`);
  const validate = ajv.compile({ $ref: `mcp:${era}#/$defs/${name}` });
  compiled.set(`${era} ${name}`, validate);
  return validate;
}

/** The definitions of the messages a server may send on its own, by their method. */
export function serverMessages(era: Era): ReadonlyMap<string, string> {
  const unions = [schemas[era].ServerRequest, schemas[era].ServerNotification] as (
    | { anyOf: { $ref: string }[] }
    | undefined
  )[];
  const names = unions.flatMap((union) => union?.anyOf ?? []).map(({ $ref }) => $ref.slice('#/$defs/'.length));
  return new Map(
    names.map((name) => {
      const { properties } = schemas[era][name] as { properties: { method: { const: string } } };
      return [properties.method.const, name];
    }),
  );
}
