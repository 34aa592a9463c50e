import { type Node, nodesOf } from './bounds.ts';
import { FUNCTION_NAMES } from './functions.ts';

/** The members of `$states`; the field decides which exist. */
export type StatesMember = 'input' | 'context' | 'result' | 'errorOutput';

interface Names {
  used: Set<string>;
  /** The names that the expression itself binds: `$x := …`, function parameters, `@$x`, `#$i`. */
  bound: Set<string>;
  members: Set<string>;
}

/** The first unknown name in an expression, as a sentence; undefined if all are known. */
export function findUnknown(
  ast: unknown,
  variables: ReadonlySet<string>,
  members: readonly StatesMember[],
): string | undefined {
  const names = collect(ast);
  if (names.used.has('eval')) return '$eval is not supported by Step Functions';
  for (const name of names.used) {
    const known = name === '' || name === '$' || name === 'states' || names.bound.has(name);
    if (!known && !variables.has(name) && !FUNCTION_NAMES.has(name)) return `$${name} is never assigned`;
  }
  for (const name of names.members) {
    if (!(members as readonly string[]).includes(name)) return `$states.${name} does not exist in this field`;
  }
  return undefined;
}

function collect(ast: unknown): Names {
  const names: Names = { used: new Set(), bound: new Set(), members: new Set() };
  for (const node of nodesOf(ast)) note(node, names);
  return names;
}

function note(node: Node, names: Names): void {
  if (node.type === 'variable') names.used.add(String(node.value));
  if (node.type === 'bind') bind(node.lhs, names);
  if (node.type === 'lambda' && Array.isArray(node.arguments))
    for (const parameter of node.arguments) bind(parameter, names);
  if (typeof node.focus === 'string') names.bound.add(node.focus);
  if (typeof node.index === 'string') names.bound.add(node.index);
  if (node.type === 'path' && Array.isArray(node.steps)) noteMember(node.steps, names);
}

function bind(variable: unknown, names: Names): void {
  names.bound.add(String((variable as Node).value));
}

function noteMember([root, member]: unknown[], names: Names): void {
  const [first, second] = [root as Node, (member ?? {}) as Node];
  if (first.type === 'variable' && first.value === 'states' && second.type === 'name')
    names.members.add(String(second.value));
}
