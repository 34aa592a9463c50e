import { isObject, type JsonObject, listOf, objectOf, stringOf } from '../json.ts';
import type { Stack, Template, TemplateResource } from './assembly.ts';
import { RESOURCE_TYPES } from './resource-types.ts';
import { unknownPaths } from './resources.ts';

/** An app cut down to what its server needs. */
export interface Reached {
  readonly stacks: readonly Stack[];
  /** How many resources of each service are left alone, by service: `AWS::SNS`. */
  readonly leftAlone: ReadonlyMap<string, number>;
}

/** The environment that only the endpoint of a server has. */
const ENDPOINT_VARIABLES = ['TASKS_TABLE', 'MACHINE_ARN_PREFIX', 'SIGNING_KEY_SECRET'];
/** Belong to what they name: without them it would lack rights or settings. */
const ATTACHED: Readonly<Record<string, string>> = {
  'AWS::IAM::Policy': 'Roles',
  'AWS::IAM::ManagedPolicy': 'Roles',
  'AWS::Lambda::EventInvokeConfig': 'FunctionName',
  'AWS::SecretsManager::RotationSchedule': 'SecretId',
};

/**
 * The part of an app that its server reaches: its construct, its tools, and the resources that these name and the
 * embedded cloud knows. Everything else is left alone; a reference to it becomes a name that nothing has.
 *
 * @param name of the stack to run. @default the only one with a server
 */
export function reachedByServer(stacks: readonly Stack[], name?: string): Reached {
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
  const reached = reach(stack.template);
  const leftAlone = new Map<string, number>();
  for (const { template } of stacks) {
    for (const [id, { Type }] of Object.entries(template.Resources)) {
      if ((template === stack.template && reached.has(id)) || Type === 'AWS::CDK::Metadata') continue;
      const service = Type.split('::').slice(0, 2).join('::');
      leftAlone.set(service, (leftAlone.get(service) ?? 0) + 1);
    }
  }
  return { stacks: [{ ...stack, template: cut(stack.template, reached) }], leftAlone };
}

/** The paths of the constructs, with a slash at the end. */
function serverPaths({ Resources }: Template): string[] {
  return Object.values(Resources).flatMap((resource) => {
    const variables = objectOf(objectOf(resource.Properties?.Environment).Variables);
    const isEndpoint = ENDPOINT_VARIABLES.every((variable) => Object.hasOwn(variables, variable));
    // The endpoint is `<server>/Endpoint/Resource`.
    return isEndpoint ? [pathOf(resource).split('/').slice(0, -2).concat('').join('/')] : [];
  });
}

const pathOf = ({ Metadata }: TemplateResource): string => stringOf(objectOf(Metadata)['aws:cdk:path']) ?? '';
const isKnown = ({ Type }: TemplateResource): boolean => Object.hasOwn(RESOURCE_TYPES, Type);

function reach({ Resources }: Template): Set<string> {
  const servers = serverPaths({ Resources } as Template);
  const reached = new Set<string>();
  const visit = (id: string): void => {
    const resource = Resources[id];
    if (resource === undefined || reached.has(id) || !isKnown(resource)) return;
    reached.add(id);
    for (const name of namesIn(resource.Properties)) visit(name);
  };
  for (const [id, resource] of Object.entries(Resources)) {
    if (servers.some((path) => pathOf(resource).startsWith(path))) visit(id);
  }
  for (let before = -1; before < reached.size; ) {
    before = reached.size;
    for (const [id, { Type, Properties }] of Object.entries(Resources)) {
      const property = ATTACHED[Type];
      if (property !== undefined && namesIn(Properties?.[property]).some((name) => reached.has(name))) visit(id);
    }
  }
  return reached;
}

/** The logical ids that a value refers to. */
function namesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (!isObject(value)) return [];
  const { Ref, 'Fn::GetAtt': attribute, 'Fn::Sub': text } = value;
  const named = Array.isArray(attribute) ? attribute[0] : String(attribute ?? '').split('.')[0];
  const inText = String(listOf(text)[0] ?? text ?? '').matchAll(/\$\{([^!}.]+)[^}]*\}/g);
  const own = [stringOf(Ref), stringOf(named), ...[...inText].map(([, name]) => name)];
  return [
    ...own.filter((name) => name !== undefined && name !== ''),
    ...Object.values(value).flatMap(namesIn),
  ] as string[];
}

/** The template with the reached resources, and with what the embedded cloud knows of them. */
function cut(template: Template, reached: ReadonlySet<string>): Template {
  const kept = Object.entries(template.Resources).filter(([id]) => reached.has(id));
  const known = (name: string): boolean => reached.has(name) || name.startsWith('AWS::') || hasDefault(template, name);
  const resources = kept.map(([id, resource]): [string, TemplateResource] => {
    const type = RESOURCE_TYPES[resource.Type];
    const paths = new Set(type?.properties.split(/\s+/));
    const properties = structuredClone(resource.Properties ?? {}) as JsonObject;
    for (const path of unknownPaths(properties, '', paths)) remove(properties, path.split('.'));
    return [id, { ...resource, Properties: withNames(properties, known) as JsonObject }];
  });
  const outputs = Object.entries(template.Outputs).filter(([, output]) => namesIn(output).every(known));
  return { ...template, Resources: Object.fromEntries(resources), Outputs: Object.fromEntries(outputs) };
}

function hasDefault({ Parameters }: Template, name: string): boolean {
  const { Type, Default } = objectOf(Parameters[name]);
  return Default !== undefined && !String(Type).startsWith('AWS::SSM::');
}

/** Removes what `unknownPaths` names: `A.B`, or `A[].B` for each entry of a list. */
function remove(value: JsonObject, [first = '', ...rest]: readonly string[]): void {
  const list = first.endsWith('[]');
  const key = list ? first.slice(0, -2) : first;
  if (rest.length === 0) delete (value as Record<string, unknown>)[key];
  else for (const inner of list ? listOf(value[key]) : [value[key]]) remove(objectOf(inner), rest);
}

/** Puts a name in place of each reference to something that does not run here. */
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
  if (key === 'Fn::Sub' && typeof argument === 'string') {
    const text = argument.replace(/\$\{([^!}.]+)[^}]*\}/g, (all, name: string) => (known(name) ? all : name));
    return { [key]: text };
  }
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, withNames(entry, known)]));
}
