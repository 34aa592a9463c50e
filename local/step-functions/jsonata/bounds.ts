/** What AWS bounds one evaluation of an expression by. No AWS page names these bounds; each cites who measured it. */

/**
 * How many evaluations may be nested in each other. AWS passes some at 100 and fails all at 101: five shapes of
 * nesting measured in us-east-1, github.com/floci-io/floci/issues/2737. Below that, since what counts as a level may
 * differ a little.
 */
const DEPTH = 90;

/** The longest string. AWS passes 2^22 characters and fails 2^23 (same issue). */
const CHARACTERS = 2 ** 22;

/**
 * The most numbers in a list. AWS passes `[1..873782]` and fails one more (same issue), which may never become a list;
 * a list that does, `$range(1, 360145, 1)`, passes, and one number more fails (github.com/floci-io/floci/pull/2790).
 */
const NUMBERS = 360_145;

// What a value weighs, in characters. AWS bounds memory, so containers count, too, but there is no measurement of them.
// The proportions are those of Java, whose lists grow to exactly 360,145 places: 20 bytes for a number and its place, 40
// for a string beside its characters, 136 for an object with one member. A list is lighter, and weighs the same here.
const NUMBER = CHARACTERS / NUMBERS;
const STRING = 2 * NUMBER;
const CONTAINER = 10 * NUMBER;
const MEMORY = CHARACTERS + STRING;

// The wording of AWS (same issue).
const TOO_DEEP =
  'Stack overflow error: Check for non-terminating recursive function. Consider rewriting as tail-recursive.';
const TOO_LARGE = 'Expression evaluation memory limit exceeded: Check for excessive memory usage';

/** An evaluation that AWS would stop. */
export class BoundExceeded extends Error {}

type Node = Readonly<Record<string, unknown>>;

interface Step {
  readonly node: Node;
  /** What the variables weigh that were bound in this step. */
  held: number;
  /** Evaluations that jsonata begins at the same time as this one. */
  readonly beside: Waiting[];
}

interface Waiting {
  readonly node: Node;
  begin(): void;
}

/** Watches one evaluation. Each method throws BoundExceeded. */
export interface Bounds {
  /** A step begins; it waits for what this answers. */
  enter(node: Node): Promise<void> | undefined;
  exit(value: unknown): void;
}

/**
 * @param constructorOf the node whose members jsonata evaluates at the same time, by member. Here they take turns:
 *   otherwise an object with 100 members would be 100 levels deep
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

/** From each value in a list or object constructor of a program to that constructor. */
export function membersOf(program: unknown): ReadonlyMap<unknown, unknown> {
  const members = new Map<unknown, unknown>();
  const seen = new Set<unknown>();
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    const node = value as Node;
    if (node.type === 'unary' && node.value === '[') note(node.expressions, node);
    if (node.type === 'unary' && node.value === '{') note(seconds(node.lhs), node);
    if (node.group !== undefined) note(seconds((node.group as Node).lhs), node);
    Object.values(node).forEach(walk);
  };
  const note = (values: unknown, owner: unknown): void => {
    if (Array.isArray(values)) for (const value of values) members.set(value, owner);
  };
  walk(program);
  return members;
}

const seconds = (pairs: unknown): unknown => Array.isArray(pairs) && pairs.map((pair) => (pair as unknown[])[1]);

/** @param known what is known of objects and lists: nothing changes them once a step has answered them */
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

/** Of jsonata, which has objects for functions. */
export function isFunction(value: unknown): boolean {
  if (typeof value === 'function') return true;
  return typeof value === 'object' && value !== null && ('_jsonata_lambda' in value || '_jsonata_function' in value);
}
