import type { InputRequest } from '../tool/contract.ts';
import { type Check, has, isBoolean, isInteger, isNumber, isObject, isString, isUri, listOf, oneOf } from './shape.ts';

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

/** The flat fields of a form, as both revisions publish them. */
const FIELDS: Readonly<Record<string, Check>> = {
  string: has({}, { ...text, ...choice }),
  number: has({}, number),
  integer: has({}, number),
  boolean: has({}, { ...titled, default: isBoolean }),
  array: has({ items }, many),
};
const isField: Check = (field) => isObject(field) && (FIELDS[String(field.type)]?.(field) ?? false);
const isForm = has(
  { type: oneOf('object'), properties: (fields) => isObject(fields) && Object.values(fields).every(isField) },
  { required: listOf(isString), $schema: isString },
);

const block = has({ type: isString });
const isMessage = has(
  { role: oneOf('user', 'assistant'), content: (content) => block(content) || listOf(block)(content) },
  { _meta: isObject },
);

const ASKABLE: Readonly<Record<string, Check>> = {
  'elicitation/create': (params) =>
    has({ mode: oneOf('url'), message: isString, url: isUri }, { _meta: isObject })(params) ||
    has({ message: isString, requestedSchema: isForm }, { mode: oneOf('form'), _meta: isObject })(params),
  'sampling/createMessage': has(
    { messages: listOf(isMessage), maxTokens: isInteger },
    {
      ...{ systemPrompt: isString, temperature: isNumber, stopSequences: listOf(isString), metadata: isObject },
      ...{ modelPreferences: isObject, includeContext: oneOf('none', 'thisServer', 'allServers'), _meta: isObject },
      ...{ tools: listOf(isObject), toolChoice: isObject },
    },
  ),
  'roots/list': (params) => params === undefined || has({}, { _meta: isObject })(params),
};

/**
 * Whether a client can be asked this: what both revisions demand of the three kinds of question (B-18, D-21). Forms
 * are flat: a field that is an object, or a list of anything but choices, has no form.
 */
export function isQuestion(value: unknown): value is InputRequest {
  return isObject(value) && typeof value.method === 'string' && (ASKABLE[value.method]?.(value.params) ?? false);
}
