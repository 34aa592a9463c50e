import jsonata from 'jsonata';
import { type Bounds, isFunction, membersOf, watchEvaluation } from './bounds.ts';

export interface Expression {
  readonly text: string;
  readonly ast: unknown;
  /** Throws a JsonataFailure. */
  evaluate(bindings: Record<string, unknown>): Promise<unknown>;
}

/** An expression could not be compiled or evaluated. The message is jsonata's. */
export class JsonataFailure extends Error {
  /** Whether the message begins with an error code of JSONata. */
  readonly coded: boolean;

  constructor(message: string, coded = false) {
    super(message);
    this.coded = coded;
  }
}

// Machines of one template share their expressions. A compiled expression keeps no state between evaluations.
const compiled = new Map<string, Expression>();

/** Compiles an expression once per process. Throws a JsonataFailure if it does not parse. */
export function compileExpression(text: string): Expression {
  const known = compiled.get(text);
  if (known !== undefined) return known;
  const expression = compile(text);
  compiled.set(text, expression);
  return expression;
}

function compile(text: string): Expression {
  try {
    const program = jsonata(text);
    const ast: unknown = program.ast();
    const members = membersOf(ast);
    watch(program);
    return {
      text,
      ast,
      evaluate: (bindings) => evaluate(program, { [BOUNDS]: watchEvaluation(members), ...bindings }),
    };
  } catch (thrown) {
    throw failure(thrown);
  }
}

/** The variable that holds the bounds of an evaluation: no expression can name it, a test may bind it. */
export const BOUNDS = ' bounds';

/** Adds hooks that check the bounds. They belong to the program, which may run several evaluations at once. */
function watch(program: jsonata.Expression): void {
  // The types of jsonata do not allow symbols.
  const assign = program.assign as unknown as (name: symbol, hook: unknown) => void;
  const boundsOf = (frame: jsonata.Environment) => frame.lookup(BOUNDS) as Bounds;
  assign(Symbol.for('jsonata.__evaluate_entry'), (node: object, _input: unknown, frame: jsonata.Environment) =>
    boundsOf(frame).enter(node as Record<string, unknown>),
  );
  assign(
    Symbol.for('jsonata.__evaluate_exit'),
    (_node: object, _input: unknown, frame: jsonata.Environment, value: unknown) => boundsOf(frame).exit(value),
  );
}

async function evaluate(program: jsonata.Expression, bindings: Record<string, unknown>): Promise<unknown> {
  try {
    return plain(await program.evaluate(undefined, bindings));
  } catch (thrown) {
    throw failure(thrown);
  }
}

/** The result as plain JSON: jsonata adds hidden flags to its arrays and can return functions. */
function plain(value: unknown): unknown {
  if (value === undefined) return undefined;
  const text = JSON.stringify(value, (_, item) => {
    if (isFunction(item)) throw new JsonataFailure('the result contains a function');
    return item;
  });
  return JSON.parse(text);
}

function failure(thrown: unknown): JsonataFailure {
  if (thrown instanceof JsonataFailure) return thrown;
  const { code, message } = (thrown ?? {}) as { code?: unknown; message?: unknown };
  const text = String(message ?? thrown);
  return typeof code === 'string' ? new JsonataFailure(`${code}: ${text}`, true) : new JsonataFailure(text);
}
