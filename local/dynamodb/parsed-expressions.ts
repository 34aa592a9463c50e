import { isObject, type JsonObject, objectOf } from '../json.ts';

/** dynalite's parser of expressions. It adds what it parsed to the request, in members such as `_updates`. */
export interface ExpressionParser {
  /** Says what is wrong with a request. */
  validateExpressions(data: JsonObject): string | undefined;
  /** Says what is wrong with a value, and brings its numbers into one form. */
  validateAttributeValue(value: unknown): string | undefined;
}

const TEXTS = ['Update', 'Condition', 'KeyCondition', 'Filter', 'Projection'].map((kind) => `${kind}Expression`);
const PARSED = ['_updates', '_condition', '_keyCondition', '_filter', '_projection'];
/** Expressions of which the parser also judges the values: the bounds, and the name of a type. */
const BY_VALUE = /between|attribute_type/i;
const REMEMBERED = 1_000;

interface Remembered {
  readonly parsed: JsonObject;
  readonly standIns: ReadonlyMap<object, string>;
}

/**
 * Makes the parser remember what it parsed: half of dynalite's work is to parse the same texts of a client again. The
 * parser reads only the types of values, except in two kinds of expressions. Refused expressions are not remembered.
 */
export function rememberExpressions(parser: ExpressionParser): void {
  const { validateExpressions: parse } = parser;
  const known = new Map<string, Remembered>();

  parser.validateExpressions = (data) => {
    const values = objectOf(data.ExpressionAttributeValues);
    const texts = TEXTS.map((name) => data[name]);
    const types = Object.entries(values).map(([name, value]) => [name, ...Object.keys(objectOf(value))]);
    if (texts.some((text) => BY_VALUE.test(String(text))) || types.some(({ length }) => length !== 2)) {
      return parse(data);
    }
    const key = JSON.stringify([texts, data.ExpressionAttributeNames, data.ExpressionAttributeValues && types]);
    const remembered = known.get(key);
    if (remembered === undefined) {
      const problem = parse(data);
      if (known.size >= REMEMBERED) known.clear();
      const parsed = problem === undefined ? remember(parse, data, types) : undefined;
      if (parsed !== undefined) known.set(key, parsed);
      return problem;
    }
    for (const [name, value] of Object.entries(values)) {
      const problem = parser.validateAttributeValue(value);
      if (problem) return `ExpressionAttributeValues contains invalid value: ${problem} for key ${name}`;
    }
    Object.assign(data, copy(remembered.parsed, remembered.standIns, values));
    return undefined;
  };
}

/** Parses with a stand-in for each value, as the parser puts the values themselves into its result. */
function remember(
  parse: ExpressionParser['validateExpressions'],
  data: JsonObject,
  types: string[][],
): Remembered | undefined {
  const named = types.map(([name = '', type = '']) => [name, { [type]: STAND_INS[type] ?? [] }] as const);
  const asked = Object.fromEntries(TEXTS.flatMap((name) => (data[name] === undefined ? [] : [[name, data[name]]])));
  const request: JsonObject = {
    ...asked,
    ExpressionAttributeNames: data.ExpressionAttributeNames,
    ...(named.length > 0 && { ExpressionAttributeValues: Object.fromEntries(named) }),
  };
  if (parse(request) !== undefined) return undefined;
  const parsed = Object.fromEntries(PARSED.flatMap((name) => (request[name] ? [[name, request[name]]] : [])));
  return { parsed, standIns: new Map(named.map(([name, standIn]) => [standIn, name])) };
}

/** A valid value of each type; a list for the sets. */
const STAND_INS: JsonObject = {
  S: 's',
  N: '0',
  B: 'AA==',
  NULL: true,
  BOOL: true,
  M: {},
  SS: ['s'],
  NS: ['0'],
  BS: ['AA=='],
};

/** A copy, as the actions of dynalite change what was parsed. */
function copy(value: unknown, standIns: ReadonlyMap<object, string>, values: JsonObject): unknown {
  if (Array.isArray(value)) return value.map((entry) => copy(entry, standIns, values));
  if (!isObject(value)) return value;
  const name = standIns.get(value);
  if (name !== undefined) return values[name];
  // Keeps a missing prototype: dynalite asks these objects for names, and would find inherited ones.
  const copied: JsonObject = Object.create(Object.getPrototypeOf(value));
  for (const [member, one] of Object.entries(value)) copied[member] = copy(one, standIns, values);
  return copied;
}
