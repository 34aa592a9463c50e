import { isObject } from '../shape.ts';
import type { InputRequest } from '../tool-contract.ts';
import { fieldProblem, type Json, type Problem } from './answer-field.ts';

const LONGEST_NAME = 64;

/**
 * Why a client's answer does not fit the question a tool asked, or undefined if it does (D-25, D-34). Both revisions
 * define the same answers. Call it for outstanding questions only (E-18).
 *
 * @example
 * answerProblem(request, { action: 'accept', content: { age: 7 } }); // content['age'] must be at least 18
 */
export function answerProblem({ method, params = {} }: InputRequest, answer: unknown): string | undefined {
  if (!isObject(answer)) return 'the answer must be an object';
  switch (method) {
    case 'elicitation/create':
      return elicitationProblem(params, answer);
    case 'sampling/createMessage':
      return samplingProblem(answer);
    case 'roots/list':
      return rootsProblem(answer);
    default:
      return undefined;
  }
}

/** B-18: only an accepted form has content that counts. A question without mode `url` is a form. */
function elicitationProblem({ mode, requestedSchema }: Json, answer: Json): Problem {
  const action = own(answer, 'action');
  if (action === 'decline' || action === 'cancel') return undefined;
  if (action !== 'accept') return `action must be 'accept', 'decline' or 'cancel'`;
  if (mode === 'url') return undefined;
  const content = own(answer, 'content');
  if (content !== undefined && !isObject(content)) return 'content must be an object';
  return isObject(requestedSchema) ? formProblem(requestedSchema, content ?? {}) : undefined;
}

function samplingProblem(answer: Json): Problem {
  const role = own(answer, 'role');
  if (role !== 'user' && role !== 'assistant') return `role must be 'user' or 'assistant'`;
  if (typeof own(answer, 'model') !== 'string') return 'model must be a string';
  const content = own(answer, 'content');
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  return blocks.every((block) => hasString(block, 'type'))
    ? undefined
    : `content must be an object with a string 'type', or a list of such objects`;
}

function rootsProblem(answer: Json): Problem {
  const roots = own(answer, 'roots');
  return Array.isArray(roots) && roots.every((root) => hasString(root, 'uri'))
    ? undefined
    : `roots must be a list of objects with a string 'uri'`;
}

const formProblem = (form: Json, content: Json): Problem => formProblems(form, content, contentField).next().value?.[1];

/**
 * What does not fit of an accepted form, by field. Properties the form does not have are fine: examples of the specification send
 * some.
 *
 * @param at names a field in its message
 */
export function* formProblems(
  { properties, required }: Json,
  content: Json,
  at: (name: string) => string,
): Generator<readonly [name: string, problem: string], undefined> {
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  for (const name of names) {
    if (typeof name === 'string' && own(content, name) === undefined) yield [name, `${at(name)} is required`];
  }
  for (const [name, field] of Object.entries(isObject(properties) ? properties : {})) {
    const value = own(content, name);
    const problem = value === undefined || !isObject(field) ? undefined : fieldProblem(field, value, at(name));
    if (problem !== undefined) yield [name, problem];
  }
}

const hasString = (value: unknown, name: string): boolean => isObject(value) && typeof own(value, name) === 'string';

/** Only what JSON.stringify keeps of an answer reaches the tool: no member of a prototype. */
const own = (object: Json, name: string): unknown =>
  Object.prototype.propertyIsEnumerable.call(object, name) ? object[name] : undefined;

const contentField = (name: string): string => `content['${[...name].slice(0, LONGEST_NAME).join('')}']`;
