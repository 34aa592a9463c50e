import { createHash } from 'node:crypto';
import { isObject, type JsonObject, listOf, objectOf, stringOf } from '../json.ts';
import { partitionOf, urlSuffixOf } from '../partition.ts';
import { DEFAULT_ACCOUNT, DEFAULT_REGION, type Stack, type TemplateResource } from './assembly.ts';
import type { Identity } from './identity.ts';
import { createResolve, holds, type Resolve, type Scope } from './intrinsics.ts';
import { RESOURCE_TYPES } from './resource-types.ts';

/** A resource of a stack with everything resolved. */
export interface Resource extends Identity {
  readonly type: string;
  readonly properties: JsonObject;
  readonly ref: string | undefined;
  /** The ARN; undefined for types without one. */
  readonly arn: string | undefined;
  readonly where: string;
}

export interface ResolvedStack {
  readonly stack: Stack;
  readonly resources: readonly Resource[];
  readonly outputs: Readonly<Record<string, string>>;
}

/** Refuses one resource, or an output as `Outputs.<name>`. The rest of the app could run without it. */
export class ResourceError extends Error {
  readonly logicalId: string;

  constructor(logicalId: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = 'ResourceError';
    this.logicalId = logicalId;
  }
}

export function about<T>({ logicalId }: { readonly logicalId: string }, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof ResourceError ? error : new ResourceError(logicalId, error);
  }
}

/** Resolves a stack. First refuses, by name, all that the embedded cloud does not know. */
export function resolveStack(stack: Stack): ResolvedStack {
  const refusals = Object.entries(stack.template.Resources).flatMap(([id, resource]) => refused(stack, id, resource));
  if (refusals.length > 0) throw new Error(refusals.join('\n'));

  const { scope, identify } = createScope(stack);
  const resolve = createResolve(scope);
  const resources = Object.entries(stack.template.Resources)
    .filter(([logicalId, { Condition }]) => {
      return !Condition || about({ logicalId }, () => holds(scope, Condition, whereOf(stack, logicalId)));
    })
    .map(([logicalId, resource]) =>
      about({ logicalId }, (): Resource => {
        const where = whereOf(stack, logicalId);
        const properties = objectOf(resolve(resource.Properties ?? {}, where));
        return {
          ...identify(logicalId),
          type: resource.Type,
          properties,
          ref: scope.ref(logicalId),
          arn: scope.getAtt(logicalId, 'Arn'),
          where,
        };
      }),
    );
  return { stack, resources, outputs: resolveOutputs(stack, scope, resolve) };
}

/** `types`: names with blanks between them. */
export function ofTypes(stack: ResolvedStack, types: string): Resource[] {
  return stack.resources.filter(({ type }) => types.split(' ').includes(type));
}

/** Refuses a value that CloudFormation accepts and the embedded cloud cannot honour. */
export function unknownValue(resource: Resource, property: string, value: unknown): Error {
  const { type, where } = resource;
  return new Error(`the embedded cloud does not know ${property} ${JSON.stringify(value)} of ${type} ${where}`);
}

export const isFifo = ({ FifoQueue }: JsonObject): boolean => FifoQueue === true || FifoQueue === 'true';

/** `(stack Name, LogicalId, Path/Of/Construct)` */
export function whereOf(stack: Stack, logicalId: string): string {
  const path = stringOf(objectOf(stack.template.Resources[logicalId]?.Metadata)['aws:cdk:path']);
  return `(stack ${stack.name}, ${logicalId}${path === undefined ? '' : `, ${path}`})`;
}

function refused(stack: Stack, logicalId: string, resource: TemplateResource): string[] {
  const where = whereOf(stack, logicalId);
  const known = RESOURCE_TYPES[resource.Type];
  if (!known) return [`the embedded cloud does not know ${resource.Type} ${where}`];
  const paths = new Set(known.properties.split(/\s+/));
  return unknownPaths(resource.Properties ?? {}, '', paths).map(
    (path) => `the embedded cloud does not know the property ${path} of ${resource.Type} ${where}`,
  );
}

/** The properties that are not in `known`, as `A.B` or `A[].B`. */
export function unknownPaths(value: JsonObject, prefix: string, known: ReadonlySet<string>): string[] {
  return Object.entries(value).flatMap(([key, entry]) => {
    const path = `${prefix}${key}`;
    if (known.has(path)) return [];
    const inside = [...known];
    if (isObject(entry) && inside.some((other) => other.startsWith(`${path}.`))) {
      return unknownPaths(entry, `${path}.`, known);
    }
    if (Array.isArray(entry) && inside.some((other) => other.startsWith(`${path}[].`))) {
      return listOf(entry).flatMap((item) => unknownPaths(objectOf(item), `${path}[].`, known));
    }
    return [path];
  });
}

function createScope(stack: Stack): { scope: Scope; identify: (logicalId: string) => Identity } {
  const { Resources, Conditions } = stack.template;
  const pseudo = pseudoParameters(stack);
  const identify = createIdentify(stack, () => createResolve(scope));
  const typeOf = (logicalId: string) =>
    Object.hasOwn(Resources, logicalId) ? RESOURCE_TYPES[Resources[logicalId]?.Type ?? ''] : undefined;
  const scope: Scope = {
    conditions: Conditions,
    parameter: (name) => pseudo[name] ?? parameterOf(stack, name),
    ref: (logicalId) => {
      const type = typeOf(logicalId);
      return type && (type.ref ?? nameOf)(identify(logicalId));
    },
    getAtt: (logicalId, attribute) => typeOf(logicalId)?.attributes?.[attribute]?.(identify(logicalId)),
  };
  return { scope, identify };
}

const nameOf = (identity: Identity) => identity.name;

function pseudoParameters(stack: Stack): Readonly<Record<string, string>> {
  return {
    'AWS::Region': stack.region,
    'AWS::AccountId': stack.account,
    'AWS::Partition': partitionOf(stack.region),
    'AWS::URLSuffix': urlSuffixOf(stack.region),
    'AWS::StackName': stack.name,
    'AWS::StackId': `arn:${partitionOf(stack.region)}:cloudformation:${stack.region}:${stack.account}:stack/${stack.name}/local`,
  };
}

function parameterOf(stack: Stack, name: string): unknown {
  if (!Object.hasOwn(stack.template.Parameters, name)) return undefined;
  const { Type, Default } = objectOf(stack.template.Parameters[name]);
  const where = `the parameter ${name} of stack ${stack.name}`;
  if (String(Type).startsWith('AWS::SSM::')) throw new Error(`the embedded cloud does not know SSM, for ${where}`);
  if (Default === undefined) throw new Error(`${where} has no default`);
  return /^(List<|CommaDelimitedList)/.test(String(Type)) ? String(Default).split(',') : String(Default);
}

/** The identity of a resource of the stack. Its explicit name may refer to other resources. */
function createIdentify(stack: Stack, resolve: () => Resolve): (logicalId: string) => Identity {
  const known = new Map<string, Identity | 'in progress'>();
  return (logicalId) => {
    const where = whereOf(stack, logicalId);
    const seen = known.get(logicalId);
    if (seen === 'in progress') throw new Error(`a name refers to itself ${where}`);
    if (seen) return seen;
    known.set(logicalId, 'in progress');
    const resource = stack.template.Resources[logicalId];
    const { name: [property, limit] = ['', 128], parent = '', suffix } = RESOURCE_TYPES[resource?.Type ?? ''] ?? {};
    const end = suffix?.(resource?.Properties ?? {}) ?? '';
    const explicit = resolve()(resource?.Properties?.[property], where);
    const within = stringOf(resolve()(resource?.Properties?.[parent], where));
    const name = stringOf(explicit) ?? generatedName(`${stack.name}-${logicalId}`, limit - end.length) + end;
    const { name: inStack, region, account } = stack;
    const identity = {
      stack: inStack,
      logicalId,
      name,
      region,
      account,
      ...(within !== undefined && { parent: within }),
    };
    known.set(logicalId, identity);
    return identity;
  };
}

/** Cuts a name that is too long, and adds its digest, so that two names stay distinct. */
function generatedName(name: string, limit: number): string {
  if (name.length <= limit) return name;
  return `${name.slice(0, limit - 9)}-${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
}

function resolveOutputs(stack: Stack, scope: Scope, resolve: Resolve): Record<string, string> {
  const entries = Object.entries(stack.template.Outputs).flatMap(([name, value]) =>
    about({ logicalId: `Outputs.${name}` }, (): [string, string][] => {
      const { Value, Condition } = objectOf(value);
      const where = `(stack ${stack.name}, output ${name})`;
      if (typeof Condition === 'string' && !holds(scope, Condition, where)) return [];
      return [[name, String(resolve(Value, where))]];
    }),
  );
  return Object.fromEntries(entries);
}

/** Region and account of the first stack. */
export const placeOf = ([first]: readonly ResolvedStack[]) => {
  const { region = DEFAULT_REGION, account = DEFAULT_ACCOUNT } = first?.stack ?? {};
  return { region, account };
};
