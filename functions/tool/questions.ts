import { answerProblem } from '../tasks/questions/answer-problem.ts';
import type { InputRequest, InputResponse } from '../tasks/tool-contract.ts';
import type { ArgumentsOf } from './schema.ts';

/** A question whose answer has type A. The functions below make them. */
export interface Question<A> extends InputRequest {
  /** Never set: carries the type only. */
  readonly answer?: A;
}

export type AnswerOf<Q> = Q extends Question<infer A> ? A : never;

/** One flat field of a form, as both revisions allow it. */
export type FormField =
  | { readonly type: 'string'; readonly enum?: readonly string[]; readonly [keyword: string]: unknown }
  | { readonly type: 'number' | 'integer' | 'boolean'; readonly [keyword: string]: unknown }
  | {
      readonly type: 'array';
      readonly items: { readonly type: 'string'; readonly enum: readonly string[] };
      readonly [keyword: string]: unknown;
    };

type FormSchema<F, R extends string> = {
  readonly type: 'object';
  readonly properties: F;
  readonly required: readonly R[];
};
/** The answer of a person to a form (B-18, D-34). */
export type FormAnswer<Content> =
  | { readonly action: 'accept'; readonly content: Content }
  | { readonly action: 'decline' | 'cancel'; readonly content?: undefined };

/**
 * Asks the person at the client to fill in a form. Fields are required unless named in `optional`.
 *
 * @example
 * const { confirm } = await task.requireInput({ confirm: elicitForm('Really?', { ok: { type: 'boolean' } }) });
 * if (confirm.action !== 'accept' || !confirm.content.ok) return 'Not done';
 */
export function elicitForm<
  const F extends Readonly<Record<string, FormField>>,
  const O extends readonly (keyof F & string)[] = readonly [],
>(
  message: string,
  fields: F,
  optional?: O,
): Question<FormAnswer<ArgumentsOf<FormSchema<F, Exclude<keyof F & string, O[number]>>>>> {
  const required = Object.keys(fields).filter((name) => !optional?.includes(name));
  return {
    method: 'elicitation/create',
    params: { message, requestedSchema: { type: 'object', properties: fields, required } },
  };
}

/**
 * Asks the person to open a URL, e.g. to log in. The answer only says whether they agreed. The URL has at most 2,000
 * characters, https (http on loopback), no user info and no control characters: any other URL fails the task.
 *
 * @example
 * const { login } = await task.requireInput({ login: elicitUrl('Log in to the shop', 'https://shop.example.com/login') });
 */
export function elicitUrl(
  message: string,
  url: string,
): Question<{ readonly action: 'accept' | 'decline' | 'cancel' }> {
  return { method: 'elicitation/create', params: { mode: 'url', message, url } };
}

/** The answer of the client's model. */
export interface SampleAnswer {
  readonly role: 'user' | 'assistant';
  readonly model: string;
  readonly content: { readonly type: string; readonly text?: string; readonly [field: string]: unknown };
  readonly stopReason?: string;
}

/**
 * Sends a prompt to the client's model, which answers with `maxTokens` at most.
 *
 * @example
 * const { summary } = await task.requireInput({ summary: sample(`Summarize: ${text}`, 200) });
 */
export function sample(
  prompt: string,
  maxTokens: number,
  more: Readonly<Record<string, unknown>> = {},
): Question<SampleAnswer> {
  const messages = [{ role: 'user', content: { type: 'text', text: prompt } }];
  return { method: 'sampling/createMessage', params: { messages, maxTokens, ...more } };
}

/**
 * Returns an answer that fits its question; undefined otherwise. Adds the content that an accepted form without fields may
 * lack. For a call without a task, this is the first check of its answers.
 */
export function fitting<A extends InputResponse>(question: InputRequest, answer: A | undefined): A | undefined {
  if (answer === undefined || answerProblem(question, answer) !== undefined) return undefined;
  return answer.action === 'accept' && answer.content === undefined ? { ...answer, content: {} } : answer;
}
