import { isObject, type JsonObject, listOf, objectOf, stringOf } from '../json.ts';
import { NOT_RUN_LOCALLY } from '../lambda/index.ts';
import { SERVER_MARK } from '../marks.ts';
import type { Stack, Template, TemplateResource } from './assembly.ts';
import { REFUSAL } from './functions.ts';
import { namesIn } from './names.ts';
import { ATTACHED, refusalsOf, refusedTools, type ServerStack, unmetNeeds } from './refusals.ts';
import { RESOURCE_TYPES } from './resource-types.ts';
import { unknownPaths } from './resources.ts';

/** An app with only the parts that its server needs. */
export interface Reached {
  readonly stacks: readonly Stack[];
  /** How many resources are left alone, by service, such as `AWS::SNS`. */
  readonly leftAlone: ReadonlyMap<string, number>;
  /** Why a tool cannot run here, by its name. */
  readonly refusedTools: ReadonlyMap<string, string>;
  /** Resources that name one that is left alone, and would not notice: their tools are refused, too. By logical id. */
  readonly unmet: ReadonlyMap<string, string>;
  isOfServer(logicalId: string): boolean;
}

/**
 * The part of an app that its server reaches: its construct, its tools, and the resources that these name and the
 * embedded cloud knows. Everything else is left alone; a reference to it becomes a name that no resource has. A function
 * or a state machine that cannot run is replaced by one that fails with the reason.
 *
 * @param name of the stack to run. @default the only one with a server
 * @param refused resources and outputs that the embedded cloud refuses, by logical id, with the reason
 */
export function reachedByServer(
  stacks: readonly Stack[],
  name?: string,
  refused: ReadonlyMap<string, string> = new Map(),
): Reached {
  const served = stacks.filter((stack) => serverPaths(stack.template).length > 0);
  const chosen = name === undefined ? served : served.filter((stack) => stack.name === name);
  const [stack, second] = chosen;
  if (stack === undefined)
    throw new Error(`${name === undefined ? 'this app' : `the stack ${name}`} has no McpTaskServer`);
  if (second !== undefined) {
    throw new Error(
      `more than one stack has an McpTaskServer: choose one with --stack: ${served.map((one) => one.name).join(', ')}`,
    );
  }
  const server = serverStack(stack);
  const refusals = refusalsOf(server, refused);
  const reached = new Set([...server.reached].filter((id) => !refusals.has(id) || isReplaced(stack, id)));
  const leftAlone = new Map<string, number>();
  for (const { template } of stacks) {
    for (const [id, { Type }] of Object.entries(template.Resources)) {
      if ((template === stack.template && reached.has(id)) || Type === 'AWS::CDK::Metadata') continue;
      const service = Type.split('::').slice(0, 2).join('::');
      leftAlone.set(service, (leftAlone.get(service) ?? 0) + 1);
    }
  }
  return {
    stacks: [{ ...stack, template: cut(stack.template, reached, refusals) }],
    leftAlone,
    refusedTools: refusedTools(server, refusals),
    unmet: unmetNeeds(server),
    isOfServer: server.isOfServer,
  };
}

/** The paths of the constructs, with a slash at the end. */
function serverPaths({ Resources }: Template): string[] {
  return Object.values(Resources).flatMap((resource) => {
    const isEndpoint = Object.hasOwn(objectOf(resource.Metadata), SERVER_MARK);
    // The endpoint is `<server>/Endpoint/Resource`.
    return isEndpoint ? [pathOf(resource).split('/').slice(0, -2).concat('').join('/')] : [];
  });
}

const pathOf = ({ Metadata }: TemplateResource): string => stringOf(objectOf(Metadata)['aws:cdk:path']) ?? '';
const isKnown = ({ Type }: TemplateResource): boolean => Object.hasOwn(RESOURCE_TYPES, Type);

function serverStack(stack: Stack): ServerStack {
  const { Resources } = stack.template;
  const paths = serverPaths(stack.template);
  const isOfServer = (id: string): boolean => {
    const resource = Resources[id];
    return resource !== undefined && paths.some((path) => pathOf(resource).startsWith(path));
  };
  const reached = new Set<string>();
  const visit = (id: string): void => {
    const resource = Resources[id];
    if (resource === undefined || reached.has(id) || !isKnown(resource)) return;
    // This cloud serves one API, the server's.
    if (resource.Type.startsWith('AWS::ApiGateway::') && !isOfServer(id)) return;
    reached.add(id);
    for (const name of namesIn(resource.Properties)) visit(name);
  };
  for (const id of Object.keys(Resources)) if (isOfServer(id)) visit(id);
  for (let before = -1; before < reached.size; ) {
    before = reached.size;
    for (const [id, { Type, Properties }] of Object.entries(Resources)) {
      const property = ATTACHED[Type];
      if (property !== undefined && namesIn(Properties?.[property]).some((name) => reached.has(name))) visit(id);
    }
  }
  return { stack, reached, isOfServer };
}

/**
 * Replaces a resource that cannot run, so that a call fails with the reason. The function calls nothing, so it has no
 * role, and may always log.
 */
const REPLACEMENTS: Readonly<Record<string, (properties: JsonObject, reason: string) => Partial<TemplateResource>>> = {
  'AWS::Lambda::Function': ({ FunctionName }, reason) => ({
    Metadata: { [REFUSAL]: reason },
    Properties: { ...(FunctionName !== undefined && { FunctionName }) },
  }),
  'AWS::StepFunctions::StateMachine': ({ StateMachineName, RoleArn }, reason) => ({
    Properties: {
      ...(StateMachineName !== undefined && { StateMachineName }),
      RoleArn,
      DefinitionString: failing(reason),
    },
  }),
};

function replaced({ Type, Metadata, Properties = {} }: TemplateResource, reason: string): TemplateResource {
  const { Metadata: more, ...rest } = REPLACEMENTS[Type]?.(Properties, reason) ?? {};
  return { Type, Metadata: { ...Metadata, ...more }, ...rest };
}

const isReplaced = ({ template }: Stack, id: string): boolean =>
  Object.hasOwn(REPLACEMENTS, template.Resources[id]?.Type ?? '');

const failing = (Cause: string): string =>
  JSON.stringify({
    QueryLanguage: 'JSONata',
    StartAt: NOT_RUN_LOCALLY,
    States: { [NOT_RUN_LOCALLY]: { Type: 'Fail', Error: NOT_RUN_LOCALLY, Cause } },
  });

/** Cuts a template down to the reached resources, with the properties that the embedded cloud knows. */
function cut(template: Template, reached: ReadonlySet<string>, refusals: ReadonlyMap<string, string>): Template {
  const kept = Object.entries(template.Resources)
    .filter(([id]) => reached.has(id))
    .map(([id, resource]): [string, TemplateResource] => {
      const reason = refusals.get(id);
      return [id, reason === undefined ? resource : replaced(resource, reason)];
    });
  const known = (name: string): boolean => reached.has(name) || name.startsWith('AWS::') || hasDefault(template, name);
  const resources = kept.map(([id, resource]): [string, TemplateResource] => {
    const type = RESOURCE_TYPES[resource.Type];
    const paths = new Set(type?.properties.split(/\s+/));
    const properties = structuredClone(resource.Properties ?? {}) as JsonObject;
    for (const path of unknownPaths(properties, '', paths)) remove(properties, path.split('.'));
    return [id, { ...resource, Properties: withNames(properties, known) as JsonObject }];
  });
  const outputs = Object.entries(template.Outputs).filter(
    ([name, output]) => namesIn(output).every(known) && !refusals.has(`Outputs.${name}`),
  );
  return { ...template, Resources: Object.fromEntries(resources), Outputs: Object.fromEntries(outputs) };
}

function hasDefault({ Parameters }: Template, name: string): boolean {
  const { Type, Default } = objectOf(Parameters[name]);
  return Default !== undefined && !String(Type).startsWith('AWS::SSM::');
}

/** Removes a property that `unknownPaths` names: `A.B`, or `A[].B` for each entry of a list. */
function remove(value: JsonObject, [first = '', ...rest]: readonly string[]): void {
  const list = first.endsWith('[]');
  const key = list ? first.slice(0, -2) : first;
  if (rest.length === 0) delete (value as Record<string, unknown>)[key];
  else for (const inner of list ? listOf(value[key]) : [value[key]]) remove(objectOf(inner), rest);
}

/** Replaces each reference to a resource that does not run here by a name. */
function withNames(value: unknown, known: (name: string) => boolean): unknown {
  if (typeof value === 'string') return value.replace(/\{\{resolve:[^}]*\}\}/g, 'not-run-locally');
  if (Array.isArray(value)) return value.map((entry) => withNames(entry, known));
  if (!isObject(value)) return value;
  const [[key = '', argument] = []] = Object.entries(value);
  if (key === 'Ref' && !known(String(argument))) return String(argument);
  if (key === 'Fn::GetAtt') {
    const [id = '', attribute = ''] = Array.isArray(argument) ? argument.map(String) : String(argument).split('.');
    if (known(id)) return value;
    return attribute.endsWith('Arn') ? `arn:aws:not-run-locally:::${id}` : `${id}.${attribute}`;
  }
  if (key === 'Fn::ImportValue') return 'not-run-locally';
  // A name cannot be split, so it stands for the part, too.
  const unknown = key === 'Fn::Select' ? namesIn(argument).find((name) => !known(name)) : undefined;
  if (unknown !== undefined) return unknown;
  if (key === 'Fn::Sub' && typeof argument === 'string') {
    const text = argument.replace(/\$\{([^!}.]+)[^}]*\}/g, (all, name: string) => (known(name) ? all : name));
    return { [key]: text };
  }
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, withNames(entry, known)]));
}
