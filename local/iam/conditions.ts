import { isObject, listOf } from '../json.ts';
import { arnLike, like } from './patterns.ts';

/** The context keys of a request. Operators distinguish an absent key from an empty list. */
export type ConditionKeys = Readonly<Record<string, string | readonly string[] | undefined>>;

export type Condition = (context: ConditionKeys) => boolean;

/** Compiled once, for the wanted value. */
type Test = (wanted: string) => (value: string) => boolean;

const EQUAL: Test = (wanted) => (value) => value === wanted;
const OPERATORS: Readonly<Record<string, { readonly test: Test; readonly negated?: boolean }>> = {
  StringEquals: { test: EQUAL },
  StringNotEquals: { test: EQUAL, negated: true },
  StringLike: { test: like },
  StringNotLike: { test: like, negated: true },
  // AWS documents both as the same.
  ArnEquals: { test: arnLike },
  ArnLike: { test: arnLike },
  Bool: { test: (wanted) => (value) => value.toLowerCase() === wanted.toLowerCase() },
};

/** The keys that requests of this cloud have. A condition on another key would be silently wrong. */
const KEYS = new Map(
  [
    'dynamodb:Attributes',
    'dynamodb:LeadingKeys',
    'dynamodb:ReturnValues',
    'dynamodb:Select',
    'events:detail-type',
    'events:source',
    's3:if-none-match',
    's3:ObjectCreationOperation',
    'states:HTTPEndpoint',
    'states:HTTPMethod',
    'aws:SourceArn',
    'aws:SourceAccount',
    'aws:SecureTransport',
  ].map((key) => [key.toLowerCase(), key]),
);

/** Compiles the Condition of a statement. Throws an error that names what this cloud does not know. */
export function readCondition(condition: unknown, where: string): Condition {
  if (condition === undefined) return () => true;
  if (!isObject(condition)) throw new Error(`a Condition is an object ${where}`);
  const all = Object.entries(condition).flatMap(([operator, keys]) =>
    Object.entries(isObject(keys) ? keys : {}).map(([key, wanted]) => readOne(operator, key, wanted, where)),
  );
  return (context) => all.every((holds) => holds(context));
}

function readOne(operator: string, name: string, wanted: unknown, where: string): Condition {
  if (operator === 'Null') return readNull(name, wanted, where);
  const [, set, base = '', ifExists] = /^(?:(ForAllValues|ForAnyValue):)?(.*?)(IfExists)?$/.exec(operator) ?? [];
  const known = Object.hasOwn(OPERATORS, base) ? OPERATORS[base] : undefined;
  if (!known) throw new Error(`the embedded cloud does not know the condition operator ${operator} ${where}`);
  const key = keyNamed(name, where);
  const values = (Array.isArray(wanted) ? listOf(wanted) : [wanted]).map(String);
  if (values.some((value) => value.includes('${'))) {
    throw new Error(`the embedded cloud does not know the policy variable in ${values.join()} ${where}`);
  }
  const { test, negated = false } = known;
  // Negated: no wanted value may match.
  const tests = values.map(test);
  const fits = (value: string) => tests.some((holds) => holds(value)) !== negated;
  return (context) => {
    const value = context[key];
    if (value === undefined) return ifExists !== undefined || set === 'ForAllValues' || negated;
    const given = typeof value === 'string' ? [value] : value;
    return set === 'ForAllValues' ? given.every(fits) : given.some(fits);
  };
}

/**
 * `true`: the key must be absent; `false`: it must be there and not empty.
 * docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html#Conditions_Null
 */
function readNull(name: string, wanted: unknown, where: string): Condition {
  const key = keyNamed(name, where);
  const text = String(Array.isArray(wanted) && wanted.length === 1 ? wanted[0] : wanted);
  if (text !== 'true' && text !== 'false') throw new Error(`Null is true or false, not ${text} ${where}`);
  return (context) => (context[key] === undefined || context[key].length === 0) === (text === 'true');
}

function keyNamed(name: string, where: string): string {
  const key = KEYS.get(name.toLowerCase());
  if (key === undefined) throw new Error(`the embedded cloud does not know the condition key ${name} ${where}`);
  return key;
}
