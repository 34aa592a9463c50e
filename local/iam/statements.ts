import { isObject, type JsonObject, listOf, stringOf } from '../json.ts';
import { type Condition, type ConditionKeys, readCondition } from './conditions.ts';
import { isAction, isArn } from './patterns.ts';

export interface Statement {
  /** Names its policy in reports: `ServerEndpointRoleDefaultPolicy, statement 2`. */
  readonly name: string;
  readonly allows: boolean;
  readonly actions: readonly string[];
  readonly resources: readonly string[];
  /** Whether the statement has NotAction: it covers all actions but `actions`. */
  readonly exceptActions: boolean;
  readonly exceptResources: boolean;
  readonly condition: Condition;
  /** Who may make the call. Only a resource policy names them. */
  readonly principals: readonly string[];
}

export interface AccessRequest {
  readonly action: string;
  readonly resource: string;
  readonly context: ConditionKeys;
}

const KNOWN = new Set(['Sid', 'Effect', 'Action', 'NotAction', 'Resource', 'NotResource', 'Condition', 'Principal']);

/**
 * Reads the statements of a policy document, except statements only about KMS: nothing is encrypted here, so no call
 * needs them. Throws an error that names what this cloud does not know.
 */
export function readStatements(document: unknown, policy: string, where: string): Statement[] {
  const statements = isObject(document) ? document.Statement : undefined;
  return (Array.isArray(statements) ? listOf(statements) : [statements]).flatMap((statement, index) => {
    if (!isObject(statement)) throw new Error(`a policy has no Statement ${where}`);
    const actions = strings(statement.Action);
    if (actions.length > 0 && actions.every((action) => /^kms:/i.test(action))) return [];
    return [readStatement(statement, `${policy}, statement ${index}`, where)];
  });
}

function readStatement(statement: JsonObject, name: string, where: string): Statement {
  const unknown = Object.keys(statement).find((key) => !KNOWN.has(key));
  if (unknown !== undefined) throw new Error(`the embedded cloud does not know ${unknown} of a statement ${where}`);
  const { Effect, Action, NotAction, Resource, NotResource, Condition: condition, Principal } = statement;
  if (Effect !== 'Allow' && Effect !== 'Deny') throw new Error(`a statement allows or denies ${where}`);
  return {
    name,
    allows: Effect === 'Allow',
    actions: strings(Action ?? NotAction),
    exceptActions: Action === undefined,
    // A trust policy has no Resource: it applies to its own role.
    resources: strings(Resource ?? NotResource ?? '*'),
    exceptResources: NotResource !== undefined,
    condition: readCondition(condition, where),
    principals: readPrincipals(Principal),
  };
}

function readPrincipals(principal: unknown): string[] {
  return isObject(principal) ? Object.values(principal).flatMap(strings) : strings(principal);
}

function strings(value: unknown): string[] {
  if (value === undefined) return [];
  return (Array.isArray(value) ? listOf(value) : [value]).flatMap((item) => stringOf(item) ?? []);
}

/** A statement that covers a request, with its action and resource that match. Its condition is not checked yet. */
export interface Covering {
  readonly statement: Statement;
  readonly grant: { readonly action: string; readonly resource: string };
}

export function covering(
  statements: readonly Statement[],
  request: Pick<AccessRequest, 'action' | 'resource'>,
): Covering[] {
  return statements.flatMap((statement) => {
    const { actions, resources, exceptActions, exceptResources } = statement;
    const action = found(actions, exceptActions, (pattern) => isAction(request.action, pattern));
    const resource = found(resources, exceptResources, (pattern) => isArn(request.resource, pattern));
    return action === undefined || resource === undefined ? [] : [{ statement, grant: { action, resource } }];
  });
}

function found(patterns: readonly string[], except: boolean, fits: (pattern: string) => boolean): string | undefined {
  const one = patterns.find(fits);
  if (!except) return one;
  return one === undefined ? patterns.join() : undefined;
}
