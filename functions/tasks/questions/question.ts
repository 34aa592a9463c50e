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

/** Whether a tool can ask these in one round, by its names for them: the notes of a session hold these. */
export function areQuestions(value: unknown): value is Questions {
  const questions = isObject(value) ? Object.entries(value) : [];
  return (
    questions.length > 0 &&
    questions.every(([name, question]) => Buffer.byteLength(name) <= limits.questionName && isQuestion(question))
  );
}

/** The same for the author of the tool: what is wrong with them. */
export function questionsProblem(value: unknown): string | undefined {
  if (areQuestions(value)) return undefined;
  const each = Object.entries(isObject(value) ? value : {});
  const [wrong] = each.find(([name, question]) => !areQuestions({ [name]: question })) ?? [];
  const problem = wrong === undefined ? 'there is no question' : `'${wrong}' is not a question for a client`;
  const form = "{ method: 'elicitation/create', params: { message, requestedSchema } }, with flat fields";
  return `${problem}. A question is ${form}, by a name of at most ${limits.questionName} bytes`;
}

/** The kind of a question, as clients declare it (E-32): its method, with `:url` for URL elicitation. */
export function kindOf({ method, params }: InputRequest): string {
  return params?.mode === 'url' ? `${method}:url` : method;
}

/** The kinds of questions that a client did not declare (E-32), each once: a record keeps them with its failure. */
export const undeclaredKinds = (questions: readonly InputRequest[], accepts: readonly string[] = []): string[] =>
  [...new Set(questions.map(kindOf))].filter((kind) => !accepts.includes(kind));
