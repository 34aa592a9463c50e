import { BOUNDS, compileExpression, type Expression } from '../../../../local/testing.ts';

/**
 * What an expression reads, and its outcome, as a tree: a read, then for each value that it found the next read, at the
 * end the outcome. The same reads have the same outcome, and JSONata takes a hundred times as long.
 */
type Node = { readonly read: Read; readonly found: Map<unknown, Node> } | { readonly outcome: Outcome };
/** Functions of JSONata that have another value each time. */
type Changing = 'millis' | 'random' | 'uuid';
interface Read {
  /** From `$states`, or a function without arguments. */
  readonly path: readonly string[] | Changing;
  /** What members there are, not what one of them is. */
  readonly keys: boolean;
}
type Outcome = { readonly text: string | undefined } | { readonly failure: unknown };
type Bindings = Record<string, unknown>;

/** Remembers, for the whole process, the outcomes of all expressions of a definition. */
export function memoize(definition: string): void {
  JSON.parse(definition, (_name, value: unknown) => {
    if (typeof value === 'string' && value.startsWith('{%')) memoizeExpression(value.slice(2, -2).trim());
    return value;
  });
}

/** Bounds read all there is of a value, where the memory goes by what the expression itself reads. */
const UNBOUNDED = { [BOUNDS]: { enter() {}, exit() {} } };

const memoized = new Set<Expression>();

/** The embedded Step Functions compiles each text once, and keeps what is changed here. */
function memoizeExpression(text: string): void {
  const expression: { evaluate: Expression['evaluate'] } & Expression = compileExpression(text);
  if (memoized.has(expression)) return;
  memoized.add(expression);
  const { evaluate } = expression;
  let root: Node | undefined;
  expression.evaluate = async (bindings) => {
    const known = root && find(root, bindings);
    if (known !== undefined) return replay(known);
    const reads: { read: Read; found: unknown }[] = [];
    const outcome = await settle(
      evaluate({ ...recording(bindings, (read, found) => reads.push({ read, found })), ...UNBOUNDED }),
    );
    root = insert(root, reads, outcome);
    return replay(outcome);
  };
}

async function settle(evaluated: Promise<unknown>): Promise<Outcome> {
  try {
    return { text: JSON.stringify(await evaluated) };
  } catch (failure) {
    return { failure };
  }
}

function replay(outcome: Outcome): unknown {
  if ('failure' in outcome) throw outcome.failure;
  return outcome.text === undefined ? undefined : JSON.parse(outcome.text);
}

function find(root: Node, bindings: Bindings): Outcome | undefined {
  let node: Node | undefined = root;
  while (node !== undefined) {
    if ('outcome' in node) return node.outcome;
    node = node.found.get(lookUp(node.read, bindings));
  }
  return undefined;
}

function insert(root: Node | undefined, reads: readonly { read: Read; found: unknown }[], outcome: Outcome): Node {
  const [first, ...rest] = reads;
  if (first === undefined) return { outcome };
  const node = root ?? { read: first.read, found: new Map<unknown, Node>() };
  if (!('found' in node)) throw new Error('An expression has read more than the last time, from the same');
  node.found.set(first.found, insert(node.found.get(first.found), rest, outcome));
  return node;
}

const called = (name: Changing, bindings: Bindings): unknown => (bindings[name] as () => unknown)();

function lookUp({ path, keys }: Read, bindings: Bindings): unknown {
  if (typeof path === 'string') return called(path, bindings);
  let value: unknown = bindings.states;
  for (const name of path) value = (value as Record<string, unknown>)[name];
  return keys ? keysOf(value as object) : glance(value);
}

const keysOf = (value: object): string => JSON.stringify(Reflect.ownKeys(value).map(String));
/** All that is seen of a value before its members are. */
const glance = (value: unknown): unknown => (typeof value === 'object' && value !== null ? kindOf(value) : value);
const kindOf = (value: object): symbol => Symbol.for(Array.isArray(value) ? 'list' : 'object');

function recording(bindings: Bindings, note: (read: Read, found: unknown) => void): Bindings {
  const seen = new Set<string>();
  const once = (read: Read, found: unknown) => {
    const key = `${read.keys} ${typeof read.path === 'string' ? read.path : read.path.join('\0')}`;
    if (!seen.has(key)) note(read, found);
    seen.add(key);
  };
  const watched = (value: unknown, path: readonly string[]): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    const look = (name: string | symbol, member: unknown): unknown => {
      if (typeof name === 'symbol') return member;
      if (typeof member === 'function') return member;
      once({ path: [...path, name], keys: false }, glance(member));
      return watched(member, [...path, name]);
    };
    return new Proxy(value, {
      get: (target, name) => look(name, Reflect.get(target, name)),
      has(target, name) {
        look(name, Reflect.get(target, name));
        return Reflect.has(target, name);
      },
      ownKeys(target) {
        once({ path, keys: true }, keysOf(target));
        return Reflect.ownKeys(target);
      },
      getOwnPropertyDescriptor(target, name) {
        const descriptor = Reflect.getOwnPropertyDescriptor(target, name);
        const value = look(name, descriptor?.value);
        return descriptor?.configurable === true ? { ...descriptor, value } : descriptor;
      },
    });
  };
  const followed = (name: Changing) => () => {
    const value = called(name, bindings);
    once({ path: name, keys: false }, value);
    return value;
  };
  return {
    ...bindings,
    ...UNFOLLOWED,
    ...{ millis: followed('millis'), random: followed('random'), uuid: followed('uuid') },
    states: watched(bindings.states, []),
  };
}

/** Other functions that are not the same every time. */
const UNFOLLOWED = Object.fromEntries(
  ['now', 'shuffle'].map((name) => [
    name,
    () => {
      throw new Error(`The model does not remember the value of $${name}`);
    },
  ]),
);
