import validations from 'dynalite/validations/index.js';
import type { Item } from './values.ts';

/** The parts of a request that hold expressions; values as they lie in a table. */
export interface Expressions {
  readonly UpdateExpression?: string | undefined;
  readonly ConditionExpression?: string | undefined;
  readonly ProjectionExpression?: string | undefined;
  readonly KeyConditionExpression?: string | undefined;
  readonly FilterExpression?: string | undefined;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>> | undefined;
  readonly ExpressionAttributeValues?: Item | undefined;
}

/** What dynalite's own parsers make of them. */
export interface Parsed {
  readonly _updates?: object;
  readonly _condition?: { readonly expression: object };
  readonly _projection?: { readonly paths: readonly unknown[] };
  readonly _keyCondition?: { readonly expression: object };
  readonly _filter?: { readonly expression: object };
}

interface Known {
  readonly problem: string | undefined;
  readonly parsed: Parsed;
  /** What stands for each value in `parsed`: an object of the same type, with the content of the last request. */
  readonly standIns: readonly (readonly [string, object])[];
}

const KINDS = [
  'UpdateExpression',
  'ConditionExpression',
  'ProjectionExpression',
  'KeyConditionExpression',
  'FilterExpression',
] as const;
const known = new Map<string, Known>();

/**
 * Parses the expressions of a request, each text once per process: that takes dynalite longer than all the rest. What it
 * answers is good until the next request. Throws a ValidationException, as DynamoDB does, also for a name or value that
 * no expression uses.
 */
export function parse(request: Expressions): Parsed {
  const values = request.ExpressionAttributeValues ?? {};
  const types = Object.entries(values).map(([name, value]) => `${name} ${Object.keys(value)[0]}`);
  const texts = KINDS.map((kind) => request[kind]);
  const key = JSON.stringify([texts, request.ExpressionAttributeNames, types]);
  // dynalite computes into what it has parsed, so these texts are parsed each time.
  const computes = /list_append|if_not_exists|[+-]|= #/.test(request.UpdateExpression ?? '');
  const entry = (computes ? undefined : known.get(key)) ?? parseAnew(request, values);
  known.set(key, entry);
  if (entry.problem !== undefined) throw Object.assign(new Error(entry.problem), { name: 'ValidationException' });
  for (const [name, standIn] of entry.standIns) Object.assign(standIn, values[name]);
  return entry.parsed;
}

function parseAnew(request: Expressions, values: Item): Known {
  const standIns = Object.entries(values).map(([name, value]) => [name, { ...value }] as const);
  const asked = Object.fromEntries(
    KINDS.flatMap((kind) => (request[kind] === undefined ? [] : [[kind, request[kind]]])),
  );
  const data = {
    ...asked,
    ...(request.ExpressionAttributeNames && { ExpressionAttributeNames: request.ExpressionAttributeNames }),
    ...(standIns.length > 0 && { ExpressionAttributeValues: Object.fromEntries(standIns) }),
  };
  const problem = validations.validateExpressions(data);
  const { _updates, _condition, _projection, _keyCondition, _filter } = data as Parsed;
  const parsed = {
    ...(_updates && { _updates }),
    ...(_condition && { _condition }),
    ...(_projection && { _projection }),
    ...(_keyCondition && { _keyCondition }),
    ...(_filter && { _filter }),
  };
  return { problem, parsed, standIns };
}
