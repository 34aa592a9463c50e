import { limits } from '../limits.ts';
import {
  type Check,
  has,
  isBoolean,
  isDeeperThan,
  isInteger,
  isNumber,
  isObject,
  isString,
  listOf,
  objectOf,
  oneKindOf,
  oneOf,
} from '../shape.ts';
import type { InputRequest } from '../tool-contract.ts';
import { isPrompt } from './content.ts';

const titled = { title: isString, description: isString };
const choices = listOf(has({ const: isString, title: isString }));
const text = {
  ...titled,
  minLength: isInteger,
  maxLength: isInteger,
  format: oneOf('email', 'uri', 'date', 'date-time'),
};
const choice = { enum: listOf(isString), enumNames: listOf(isString), oneOf: choices, default: isString };
const number = { ...titled, minimum: isNumber, maximum: isNumber, default: isNumber };
const many = { ...titled, minItems: isInteger, maxItems: isInteger, default: listOf(isString) };
const items: Check = (value) =>
  has({ type: oneOf('string'), enum: listOf(isString) })(value) || has({ anyOf: choices })(value);

/** The flat fields of a form, as both revisions define them. */
const isField = oneKindOf('type', {
  string: has({}, { ...text, ...choice }),
  number: has({}, number),
  integer: has({}, number),
  boolean: has({}, { ...titled, default: isBoolean }),
  array: has({ items }, many),
});
const isForm = has(
  { type: oneOf('object'), properties: objectOf(isField) },
  { required: listOf(isString), $schema: isString },
);

const LONGEST_URL = 2_000;
/** Without user info: no `@` before the path. Without a backslash: some parsers take it for a slash. */
const PAGE = /^https?:\/\/[^/?#@\\]+([/?#]|$)/;
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** A page that a client may open for a person: no scheme that runs code or opens a file, and its host is what one reads. */
const isPage: Check = (value) => {
  if (typeof value !== 'string' || value.length > LONGEST_URL || !PAGE.test(value) || HIDDEN.test(value)) return false;
  const url = URL.parse(value);
  return url?.protocol === 'https:' || LOOPBACK.test(url?.hostname ?? '');
};

const asking =
  (check: Check): Check =>
  (question) =>
    isObject(question) && check(question.params);
const isAskable = oneKindOf('method', {
  'elicitation/create': asking(
    (params) =>
      has({ mode: oneOf('url'), message: isString, url: isPage }, { _meta: isObject })(params) ||
      has({ message: isString, requestedSchema: isForm }, { mode: oneOf('form'), _meta: isObject })(params),
  ),
  'sampling/createMessage': asking(isPrompt),
  'roots/list': asking((params) => params === undefined || has({}, { _meta: isObject })(params)),
});

/** Whether this is a valid question of one of the three kinds, in both revisions (B-18, D-21). */
export function isQuestion(value: unknown): value is InputRequest {
  return isAskable(value) && !isDeeperThan(value, limits.jsonDepth);
}

export type Questions = Readonly<Record<string, InputRequest>>;

/** Why a tool cannot ask these questions in one round. Undefined if it can. */
export function questionsProblem(value: unknown): string | undefined {
  const questions = isObject(value) ? Object.entries(value) : [];
  if (questions.length === 0) return 'there are none';
  for (const [name, question] of questions) {
    // The record keeps the names of refused answers, and a session the names of its questions.
    if (Buffer.byteLength(name) > limits.questionName) {
      return `the name '${name.slice(0, 50)}' takes more than ${limits.questionName} bytes`;
    }
    if (!isQuestion(question)) {
      return `'${name}' is not a question for a client: { method: 'elicitation/create', params: { message, requestedSchema } }, with flat fields`;
    }
  }
  return undefined;
}

/** The kind of a question, as clients declare it (E-32): its method, with `:url` for URL elicitation. */
export function kindOf({ method, params }: InputRequest): string {
  return params?.mode === 'url' ? `${method}:url` : method;
}
