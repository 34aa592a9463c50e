import jsonata from 'jsonata';

export interface Expression {
  readonly text: string;
  readonly ast: unknown;
  /** Throws a JsonataFailure. */
  evaluate(bindings: Record<string, unknown>): Promise<unknown>;
}

/** Why an expression could not be compiled or evaluated, in jsonata's words. */
export class JsonataFailure extends Error {}

// Machines made from one template share their expressions; a compiled expression holds no state between evaluations.
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
    return { text, ast: program.ast(), evaluate: (bindings) => evaluate(program, bindings) };
  } catch (thrown) {
    throw failure(thrown);
  }
}

async function evaluate(program: jsonata.Expression, bindings: Record<string, unknown>): Promise<unknown> {
  try {
    return plain(await program.evaluate(undefined, bindings));
  } catch (thrown) {
    throw failure(thrown);
  }
}

/** The result as plain JSON: jsonata hangs hidden flags on its arrays and can answer functions. */
function plain(value: unknown): unknown {
  if (value === undefined) return undefined;
  const text = JSON.stringify(value, (_, item) => {
    if (isFunction(item)) throw new JsonataFailure('the result contains a function');
    return item;
  });
  return JSON.parse(text);
}

function isFunction(value: unknown): boolean {
  if (typeof value === 'function') return true;
  return typeof value === 'object' && value !== null && ('_jsonata_lambda' in value || '_jsonata_function' in value);
}

function failure(thrown: unknown): JsonataFailure {
  if (thrown instanceof JsonataFailure) return thrown;
  const { code, message } = (thrown ?? {}) as { code?: unknown; message?: unknown };
  const text = String(message ?? thrown);
  return new JsonataFailure(typeof code === 'string' ? `${code}: ${text}` : text);
}
