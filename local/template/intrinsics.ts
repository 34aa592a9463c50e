import { isObject, type JsonObject, stringOf } from '../json.ts';

/** The values that the intrinsic functions of a template can refer to. */
export interface Scope {
  /** Parameters and pseudo parameters; undefined for names that are neither. */
  parameter(name: string): unknown;
  ref(logicalId: string): string | undefined;
  getAtt(logicalId: string, attribute: string): string | undefined;
  /** The conditions of the template, unresolved. */
  readonly conditions: JsonObject;
}

/** Resolves a value of a template. `where` names the resource in errors. */
export type Resolve = (value: unknown, where: string) => unknown;

interface ResolveContext {
  readonly scope: Scope;
  readonly where: string;
  readonly resolve: (value: unknown) => unknown;
}

type Intrinsic = (argument: unknown, context: ResolveContext) => unknown;

/** The value of `{ "Ref": "AWS::NoValue" }`: its property or list entry is left out. */
const NO_VALUE = Symbol('AWS::NoValue');

export function createResolve(scope: Scope): Resolve {
  return (value, where) => {
    const resolved = resolveIn(scope, where)(value);
    return resolved === NO_VALUE ? undefined : resolved;
  };
}

export function holds(scope: Scope, name: string, where: string): boolean {
  if (!Object.hasOwn(scope.conditions, name)) throw new Error(`${where}: there is no condition ${name}`);
  return resolveIn(scope, where)(scope.conditions[name]) === true;
}

function resolveIn(scope: Scope, where: string): (value: unknown) => unknown {
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve).filter((entry) => entry !== NO_VALUE);
    if (typeof value === 'string') return literal(value, where);
    if (!isObject(value)) return value;
    const name = intrinsicName(value);
    if (name === undefined) return resolveProperties(value, resolve);
    const intrinsic = Object.hasOwn(INTRINSICS, name) ? INTRINSICS[name] : undefined;
    if (!intrinsic) throw new Error(`the embedded cloud does not know ${name} ${where}`);
    return intrinsic(value[name], { scope, where, resolve });
  };
  return resolve;
}

/** Refuses `{{resolve:`: CloudFormation puts a secret or an SSM parameter there, and as text it would be silently wrong. */
function literal(value: string, where: string): string {
  if (value.includes('{{resolve:')) throw new Error(`the embedded cloud does not know dynamic references ${where}`);
  return value;
}

function resolveProperties(value: JsonObject, resolve: (value: unknown) => unknown): JsonObject {
  const entries = Object.entries(value).map(([key, entry]): [string, unknown] => [key, resolve(entry)]);
  return Object.fromEntries(entries.filter(([, entry]) => entry !== NO_VALUE));
}

function intrinsicName(value: JsonObject): string | undefined {
  const [name, ...others] = Object.keys(value);
  if (name === undefined || others.length > 0) return undefined;
  // { "Condition": "Name" } is a function only with a string: policies use the same key for something else.
  if (name === 'Condition') return typeof value.Condition === 'string' ? name : undefined;
  return name === 'Ref' || name.startsWith('Fn::') ? name : undefined;
}

const INTRINSICS: Readonly<Record<string, Intrinsic>> = {
  Ref: (argument, context) => reference(String(argument), context),
  'Fn::GetAtt': (argument, context) => {
    const [logicalId = '', ...path] = Array.isArray(argument) ? argument.map(String) : String(argument).split('.');
    return attribute(logicalId, path.join('.'), context);
  },
  'Fn::Join': (argument, context) => {
    const [separator, values] = args(argument, 2, context);
    return list(context.resolve(values), context).join(String(separator));
  },
  'Fn::Split': (argument, context) => {
    const [separator, value] = args(argument, 2, context);
    return String(context.resolve(value)).split(String(separator));
  },
  'Fn::Select': (argument, context) => {
    const [index, values] = args(argument, 2, context);
    const selected = list(context.resolve(values), context)[Number(context.resolve(index))];
    if (selected === undefined) throw new Error(`Fn::Select has nothing to select ${context.where}`);
    return selected;
  },
  'Fn::Sub': (argument, context) => substitute(argument, context),
  'Fn::Base64': (argument, { resolve }) => Buffer.from(String(resolve(argument))).toString('base64'),
  'Fn::If': (argument, context) => {
    const [name, yes, no] = args(argument, 3, context);
    return context.resolve(holds(context.scope, String(name), context.where) ? yes : no);
  },
  'Fn::Equals': (argument, context) => {
    const [left, right] = args(argument, 2, context).map((value) => JSON.stringify(context.resolve(value)));
    return left === right;
  },
  'Fn::And': (argument, { resolve }) => Array.isArray(argument) && argument.every((value) => resolve(value) === true),
  'Fn::Or': (argument, { resolve }) => Array.isArray(argument) && argument.some((value) => resolve(value) === true),
  'Fn::Not': (argument, context) => context.resolve(args(argument, 1, context)[0]) !== true,
  Condition: (argument, context) => holds(context.scope, String(argument), context.where),
};

function reference(name: string, { scope, where }: ResolveContext): unknown {
  if (name === 'AWS::NoValue') return NO_VALUE;
  const value = scope.parameter(name) ?? scope.ref(name);
  if (value === undefined) throw new Error(`the embedded cloud does not know the Ref of ${name} ${where}`);
  return value;
}

function attribute(logicalId: string, name: string, { scope, where }: ResolveContext): string {
  const value = scope.getAtt(logicalId, name);
  if (value === undefined) throw new Error(`the embedded cloud does not know Fn::GetAtt ${logicalId}.${name} ${where}`);
  return value;
}

/** `${Name}`, `${Name.Attribute}`, `${!Literal}`; the two-argument form adds variables. */
function substitute(argument: unknown, context: ResolveContext): string {
  const [text, variables] = Array.isArray(argument) ? argument : [argument, {}];
  if (stringOf(text) === undefined) throw new Error(`Fn::Sub needs a string ${context.where}`);
  return String(text).replace(/\$\{([^}]+)\}/g, (_, name: string) => {
    if (name.startsWith('!')) return `\${${name.slice(1)}}`;
    if (isObject(variables) && Object.hasOwn(variables, name)) return String(context.resolve(variables[name]));
    const [logicalId = '', ...path] = name.split('.');
    return path.length > 0 ? attribute(logicalId, path.join('.'), context) : String(reference(name, context));
  });
}

function args(argument: unknown, count: number, { where }: ResolveContext): readonly unknown[] {
  if (Array.isArray(argument) && argument.length === count) return argument;
  throw new Error(`an intrinsic function needs ${count} arguments ${where}`);
}

function list(value: unknown, { where }: ResolveContext): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new Error(`an intrinsic function needs a list ${where}`);
}
