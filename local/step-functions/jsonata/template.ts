import { StatesError } from '../errors.ts';
import { type Place, refuse } from '../place.ts';
import type { Random } from '../random.ts';
import { compileExpression, type Expression, JsonataFailure } from './expression.ts';
import { awsFunctions } from './functions.ts';
import { findUnknown, type StatesMember } from './inspect.ts';

export type Variables = Readonly<Record<string, unknown>>;

/** The values that an expression can read during its evaluation. */
export interface Scope {
  states: Readonly<Partial<Record<StatesMember, unknown>>>;
  variables: Variables;
  now: number;
  random: Random;
  /** The first words of the cause of a failure, which name the state and the event. */
  during: string;
}

/** A field compiled once at load: JSON in which some strings are `{% JSONata %}`. */
export type Template = (scope: Scope) => Promise<unknown>;

/** The names that the expressions of a field may use. */
export interface KnownNames {
  variables: ReadonlySet<string>;
  members: readonly StatesMember[];
}

export function compileTemplate(source: unknown, place: Place, known: KnownNames): Template {
  if (typeof source === 'string') return compileText(source, place, known);
  if (Array.isArray(source)) return compileList(source, place, known);
  if (typeof source === 'object' && source !== null) return compileObject(source, place, known);
  return async () => source;
}

export function isExpression(source: unknown): source is `{%${string}%}` {
  return typeof source === 'string' && source.startsWith('{%') && source.endsWith('%}') && source.length >= 4;
}

function compileText(source: string, place: Place, known: KnownNames): Template {
  if (isExpression(source)) return compileEvaluation(source.slice(2, -2).trim(), place, known);
  if (source.startsWith('{%') || source.endsWith('%}'))
    refuse(place, 'a JSONata expression is opened by {% and closed by %}');
  return async () => source;
}

function compileList(source: unknown[], place: Place, known: KnownNames): Template {
  const items = source.map((item, index) => compileTemplate(item, inner(place, `[${index}]`), known));
  return async (scope) => {
    const values: unknown[] = [];
    for (const item of items) values.push(await item(scope));
    return values;
  };
}

function compileObject(source: object, place: Place, known: KnownNames): Template {
  const members = Object.entries(source).map(
    ([name, value]) => [name, compileTemplate(value, inner(place, `/${name}`), known)] as const,
  );
  return async (scope) => {
    const values: [string, unknown][] = [];
    for (const [name, member] of members) values.push([name, await member(scope)]);
    return Object.fromEntries(values);
  };
}

function inner(place: Place, part: string): Place {
  return { ...place, field: `${place.field ?? ''}${part}` };
}

function compileEvaluation(text: string, place: Place, known: KnownNames): Template {
  const expression = parse(text, place);
  const unknown = findUnknown(expression.ast, known.variables, known.members);
  if (unknown !== undefined) refuse(place, `${unknown}, in '${text}'`);
  const subject = `The JSONata expression '${text}' specified for the field '${place.field}'`;
  return async (scope) => {
    const value = await evaluate(expression, scope, subject);
    if (value === undefined) throw queryError(scope, `${subject} returned nothing (undefined).`);
    return value;
  };
}

function parse(text: string, place: Place): Expression {
  try {
    return compileExpression(text);
  } catch (thrown) {
    if (thrown instanceof JsonataFailure) return refuse(place, `'${text}' is not JSONata: ${thrown.message}`);
    throw thrown;
  }
}

async function evaluate(expression: Expression, scope: Scope, subject: string): Promise<unknown> {
  try {
    return await expression.evaluate({
      ...awsFunctions(scope.now, scope.random),
      ...scope.variables,
      states: scope.states,
    });
  } catch (thrown) {
    if (!(thrown instanceof JsonataFailure)) throw thrown;
    // The wording of AWS: github.com/floci-io/floci/issues/2737.
    const then = thrown.coded ? '.' : ':';
    throw queryError(scope, `${subject} threw an error during evaluation${then} ${thrown.message}`);
  }
}

export function queryError(scope: Scope, cause: string): StatesError {
  return new StatesError('States.QueryEvaluationError', `${scope.during} ${cause}`);
}
