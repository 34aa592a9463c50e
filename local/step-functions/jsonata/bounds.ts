/** The bounds of AWS for one evaluation of an expression. No AWS page names them; each cites its measurement. */

/**
 * The deepest nesting of evaluations. AWS passes some at 100 and fails all at 101: five shapes of nesting measured in
 * us-east-1, github.com/floci-io/floci/issues/2737. Lower here, because AWS may count levels a little differently.
 */
const DEPTH = 90;

/** The longest string. AWS passes 2^22 characters and fails 2^23 (same issue). */
const CHARACTERS = 2 ** 22;

/**
 * The most numbers in a list. AWS passes `[1..873782]` and fails one more (same issue), but may never build that list.
 * AWS does build `$range(1, 360145, 1)`, which passes; one number more fails (github.com/floci-io/floci/pull/2790).
 */
const NUMBERS = 360_145;

// The weight of a value, in characters. AWS bounds memory, so containers count too, but no measurement of them exists.
// The proportions are Java's, whose lists grow to exactly 360,145 slots: 20 bytes for a number and its slot, 40
// for a string plus its characters, 136 for an object with one member. A list is lighter, and weighs the same here.
const NUMBER = CHARACTERS / NUMBERS;
const STRING = 2 * NUMBER;
const CONTAINER = 10 * NUMBER;
const MEMORY = CHARACTERS + STRING;

// The message of AWS (same issue).
const TOO_DEEP =
  'Stack overflow error: Check for non-terminating recursive function. Consider rewriting as tail-recursive.';
const TOO_LARGE = 'Expression evaluation memory limit exceeded: Check for excessive memory usage';

/** Thrown in an evaluation that AWS would stop. */
export class BoundExceeded extends Error {}

export type Node = Readonly<Record<string, unknown>>;

interface Step {
  readonly node: Node;
  /** The weight of the variables bound in this step. */
  held: number;
  /** Evaluations that jsonata starts at the same time as this one. */
  readonly beside: Waiting[];
}

interface Waiting {
  readonly node: Node;
  begin(): void;
}

/** Watches one evaluation. Each method throws BoundExceeded. */
export interface Bounds {
  /** A step begins; it waits for the returned promise. */
  enter(node: Node): Promise<void> | undefined;
  exit(value: unknown): void;
}

/**
 * @param constructorOf maps a member to the list or object whose members jsonata evaluates concurrently. Here they run
 *   one by one: otherwise an object with 100 members would be 100 levels deep
 */
export function watchEvaluation(constructorOf: ReadonlyMap<unknown, unknown>): Bounds {
  const steps: Step[] = [];
  const known = new WeakMap<object, number>();
  let held = 0;

  const begin = (node: Node, beside: Waiting[] = []): void => {
    if (steps.push({ node, held: 0, beside }) > DEPTH) throw new BoundExceeded(TOO_DEEP);
  };

  return {
    enter(node) {
      const top = steps.at(-1);
      const owner = constructorOf.get(node);
      if (top === undefined || owner === undefined || constructorOf.get(top.node) !== owner) {
        begin(node);
        return undefined;
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      top.beside.push({ node, begin: resolve });
      return promise;
    },
    exit(value) {
      const ended = steps.pop();
      const weight = weigh(value, known);
      if (held + weight > MEMORY) throw new BoundExceeded(TOO_LARGE);
      held -= ended?.held ?? 0;
      const around = steps.at(-1);
      if (ended?.node.type === 'bind' && around !== undefined) {
        around.held += weight;
        held += weight;
      }
      const [next, ...others] = ended?.beside ?? [];
      if (next === undefined) return;
      begin(next.node, others);
      next.begin();
    },
  };
}

/** Maps each value in a list or object constructor of a program to that constructor. */
export function membersOf(program: unknown): ReadonlyMap<unknown, unknown> {
  const members = new Map<unknown, unknown>();
  const note = (values: unknown, owner: unknown): void => {
    if (Array.isArray(values)) for (const value of values) members.set(value, owner);
  };
  for (const node of nodesOf(program)) {
    if (node.type === 'unary' && node.value === '[') note(node.expressions, node);
    if (node.type === 'unary' && node.value === '{') note(seconds(node.lhs), node);
    if (node.group !== undefined) note(seconds((node.group as Node).lhs), node);
  }
  return members;
}

/** All objects and lists of a program, each once, from the outside in. */
export function nodesOf(program: unknown): ReadonlySet<Node> {
  const nodes = new Set<Node>();
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || nodes.has(value as Node)) return;
    nodes.add(value as Node);
    Object.values(value).forEach(walk);
  };
  walk(program);
  return nodes;
}

const seconds = (pairs: unknown): unknown => Array.isArray(pairs) && pairs.map((pair) => (pair as unknown[])[1]);

/** @param known weights of objects and lists, which never change after the step that returned them */
function weigh(value: unknown, known: WeakMap<object, number>): number {
  if (typeof value === 'string') return value.length + STRING;
  if (isFunction(value)) return 0;
  if (typeof value !== 'object' || value === null) return NUMBER;
  const before = known.get(value);
  if (before !== undefined) return before;
  let weight = CONTAINER;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && weight <= MEMORY; at++) weight += weigh(value[at], known);
  } else {
    for (const [key, member] of Object.entries(value)) weight += key.length + STRING + weigh(member, known);
  }
  known.set(value, weight);
  return weight;
}

/** A function of jsonata, which is an object. */
export function isFunction(value: unknown): boolean {
  if (typeof value === 'function') return true;
  return typeof value === 'object' && value !== null && ('_jsonata_lambda' in value || '_jsonata_function' in value);
}
