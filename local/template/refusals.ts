import { type JsonObject, objectOf, stringOf } from '../json.ts';
import { SERVER_MARK } from '../marks.ts';
import type { Stack, TemplateResource } from './assembly.ts';
import { namesIn } from './names.ts';
import { whereOf } from './resources.ts';

export interface ServerStack {
  readonly stack: Stack;
  readonly reached: ReadonlySet<string>;
  /** Whether a resource is part of the server, which needs all of its parts. */
  isOfServer(logicalId: string): boolean;
}

/** Reasons, by logical id or by the name of a tool. */
type Reasons = ReadonlyMap<string, string>;

/** The properties whose resources a type needs to run. A policy also names resources, but needs none. */
const NEEDED: Readonly<Record<string, (properties: JsonObject) => unknown>> = {
  'AWS::Lambda::Function': (properties) => properties,
  'AWS::StepFunctions::StateMachine': (properties) => properties,
  'AWS::IAM::Role': ({ ManagedPolicyArns }) => ManagedPolicyArns,
};

/** The property that names the owner of a resource: without this resource, the owner lacks rights or settings. */
export const ATTACHED: Readonly<Record<string, string>> = {
  'AWS::IAM::Policy': 'Roles',
  'AWS::IAM::ManagedPolicy': 'Roles',
  'AWS::Lambda::EventInvokeConfig': 'FunctionName',
  'AWS::SecretsManager::RotationSchedule': 'SecretId',
};

/** Types that are called by URL. If a name replaces the URL, no AWS client fails, and the name may reach another system. */
const BY_URL = /^AWS::(Lambda::Url|ApiGateway(V2)?::\w+)$/;

/**
 * The functions and state machines that name a resource that does not run here, and would not notice. A function that
 * calls one by an AWS client gets an error, or reaches it elsewhere (docs/developing.md, "What runs").
 */
export function unmetNeeds(server: ServerStack): Reasons {
  const all = new Map<string, string>();
  for (const [id, { Type, Properties }] of authored(server)) {
    const isMachine = Type === 'AWS::StepFunctions::StateMachine';
    if (!isMachine && Type !== 'AWS::Lambda::Function') continue;
    const missing = namesIn(isMachine ? Properties : Properties?.Environment).find((name) => {
      const type = server.stack.template.Resources[name]?.Type;
      return type !== undefined && !server.reached.has(name) && (isMachine || BY_URL.test(type));
    });
    if (missing !== undefined) all.set(id, `${named(server, id)} names ${notRun(server, missing)}`);
  }
  return all;
}

/**
 * The resources that the embedded cloud refuses, and all that cannot run without them.
 *
 * @throws if the server itself needs one of them
 */
export function refusalsOf(server: ServerStack, refused: Reasons): Reasons {
  const all = new Map(refused);
  for (const [id, reason] of refused) {
    const { Type = '', Properties } = server.stack.template.Resources[id] ?? {};
    for (const owner of namesIn(Properties?.[ATTACHED[Type] ?? ''])) {
      if (server.isOfServer(owner)) throw new Error(reason);
      if (!all.has(owner)) all.set(owner, reason);
    }
  }
  for (let before = -1; before < all.size; ) {
    before = all.size;
    for (const [id, { Type, Properties = {} }] of authored(server)) {
      if (all.has(id)) continue;
      const needed = namesIn(NEEDED[Type]?.(Properties)).find((name) => all.has(name));
      if (needed !== undefined) all.set(id, all.get(needed) ?? '');
    }
  }
  return all;
}

/** Why a tool cannot run here, by its name. */
export function refusedTools(server: ServerStack, refusals: Reasons): Reasons {
  const all = new Map<string, string>();
  for (const { Metadata } of Object.values(server.stack.template.Resources)) {
    for (const [tool, parts] of Object.entries(objectOf(objectOf(objectOf(Metadata)[SERVER_MARK]).tools))) {
      const { stateMachine, handler } = objectOf(parts);
      const reason = refusalOf(server, refusals, stringOf(stateMachine) ?? stringOf(handler));
      if (reason !== undefined) all.set(tool, reason);
    }
  }
  return all;
}

function refusalOf(server: ServerStack, refusals: Reasons, id?: string): string | undefined {
  if (id === undefined) return 'its function or state machine is not in the stack of the server';
  return refusals.get(id) ?? (server.reached.has(id) ? undefined : `it is ${notRun(server, id)}`);
}

/** The resources that run and are not part of the server. */
function authored({ stack, reached, isOfServer }: ServerStack): [string, TemplateResource][] {
  return Object.entries(stack.template.Resources).filter(([id]) => reached.has(id) && !isOfServer(id));
}

const named = ({ stack }: ServerStack, id: string): string =>
  `${stack.template.Resources[id]?.Type} ${whereOf(stack, id)}`;

const notRun = (server: ServerStack, id: string): string =>
  `${named(server, id)}, which the embedded cloud does not run`;
