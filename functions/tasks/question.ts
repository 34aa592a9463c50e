import type { InputRequest } from '../tool/contract.ts';

const FIELD_TYPES = ['string', 'number', 'integer', 'boolean', 'array'];

/**
 * Whether a client can be asked this: what both revisions demand of the three kinds of question (B-18, D-21). Forms
 * are flat: a field that is an object, or a list of anything but choices, has no form.
 */
export function isQuestion(value: unknown): value is InputRequest {
  if (!isObject(value)) return false;
  const { method, params } = value;
  if (method === 'roots/list') return params === undefined || isObject(params);
  if (!isObject(params)) return false;
  if (method === 'sampling/createMessage') return Array.isArray(params.messages) && Number.isInteger(params.maxTokens);
  if (method !== 'elicitation/create' || typeof params.message !== 'string') return false;
  return params.mode === 'url'
    ? typeof params.url === 'string' && URL.canParse(params.url)
    : isForm(params.requestedSchema);
}

function isForm(schema: unknown): boolean {
  if (!isObject(schema) || schema.type !== 'object' || !isObject(schema.properties)) return false;
  const { required = [] } = schema;
  if (!Array.isArray(required) || !required.every((name) => typeof name === 'string')) return false;
  return Object.values(schema.properties).every(isField);
}

function isField(field: unknown): boolean {
  if (!isObject(field) || !FIELD_TYPES.includes(String(field.type))) return false;
  return field.type !== 'array' || (isObject(field.items) && ('enum' in field.items || 'anyOf' in field.items));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
