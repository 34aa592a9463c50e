import type { Questions } from '../../tasks/questions/question.ts';
import { isObject } from '../../tasks/shape.ts';
import type { InputRequest } from '../../tasks/tool-contract.ts';
import { OperatorError } from '../errors.ts';

interface Given {
  action: string;
  content: Record<string, unknown>;
}

const ACTIONS = ['accept', 'decline', 'cancel'];

/**
 * Answers to forms from `key=value`. A key is a field, if one open question has it, or `question.field`. `question=decline`
 * and `question=cancel` answer a question without its form, `question={…}` with JSON as a client would send it. Throws
 * OperatorError, which names the keys that there are.
 */
export function responsesFrom(
  pairs: readonly (readonly [key: string, text: string])[],
  open: Questions,
): Readonly<Record<string, unknown>> {
  const given: Record<string, Given | unknown> = {};
  for (const [key, text] of pairs) {
    const whole = questionNamed(key, open);
    // A question and one of its fields may have the same name.
    const isField = whole !== undefined && key in propertiesOf(open[whole]);
    if (whole !== undefined && !(isField && !ACTIONS.includes(text) && !isObject(jsonOf(text)))) {
      given[whole] = wholeAnswer(text, key, open[whole]);
      continue;
    }
    const [question, field] = fieldNamed(key, open);
    given[question] ??= { action: 'accept', content: {} };
    (given[question] as Given).content[field] = valueFor(propertiesOf(open[question])[field], text);
  }
  return given;
}

function wholeAnswer(text: string, key: string, request: InputRequest | undefined): unknown {
  if (ACTIONS.includes(text)) return { action: text };
  const value = jsonOf(text);
  if (isObject(value)) return value;
  const [only, ...more] = Object.keys(propertiesOf(request));
  if (only !== undefined && more.length === 0) {
    return { action: 'accept', content: { [only]: valueFor(propertiesOf(request)[only], text) } };
  }
  throw new OperatorError(`${key} is a question: ${key}=decline, ${key}=cancel, ${key}={…}, or ${key}.<field>=<value>`);
}

function questionNamed(key: string, open: Questions): string | undefined {
  return Object.hasOwn(open, key) ? key : Object.keys(open).find((wire) => wire.replace(/^r\d+\./, '') === key);
}

function fieldNamed(key: string, open: Questions): readonly [question: string, field: string] {
  const found = Object.entries(open).flatMap(([wire, request]) =>
    Object.keys(propertiesOf(request))
      .filter((field) => [field, `${wire}.${field}`, `${wire.replace(/^r\d+\./, '')}.${field}`].includes(key))
      .map((field) => [wire, field] as const),
  );
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  const known = Object.entries(open).flatMap(([wire, request]) => {
    const fields = Object.keys(propertiesOf(request));
    return fields.length === 0 ? [wire] : fields.map((field) => `${wire.replace(/^r\d+\./, '')}.${field}`);
  });
  throw new OperatorError(
    found.length > 1
      ? `More than one question has '${key}': ${known.join(', ')}`
      : `No question has '${key}', only: ${known.join(', ')}`,
  );
}

function propertiesOf(request: InputRequest | undefined): Readonly<Record<string, unknown>> {
  const { requestedSchema } = request?.params ?? {};
  return isObject(requestedSchema) && isObject(requestedSchema.properties) ? requestedSchema.properties : {};
}

/** A field that is a text gets the text as it is; any other JSON, if it is some. */
function valueFor(field: unknown, text: string): unknown {
  return isObject(field) && field.type === 'string' ? text : (jsonOf(text) ?? text);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
