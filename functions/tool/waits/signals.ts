import type { FormAnswer, Question } from '../questions.ts';
import type { ArgumentsOf, InputSchema } from '../schema.ts';
import type { Duration } from './duration.ts';

/** How long a link or webhook waits. */
export interface Within {
  /** From the first call on. At most until the deadline of the task. @example { days: 3 } */
  readonly within: Duration;
}

export interface WebhookOptions<S> extends Within {
  /**
   * JSON Schema of the body, or a Standard Schema that can write one. The server refuses any other body, and the wait stays open.
   *
   * @default any JSON
   * @example { type: 'object', properties: { model: { type: 'string' } }, required: ['model'] }
   */
  readonly schema?: S;
}

/** In place of a signal: none came in time. */
export interface TimedOut {
  readonly timedOut: true;
  readonly action?: undefined;
  readonly content?: undefined;
  readonly by?: undefined;
  readonly body?: undefined;
  readonly at?: undefined;
}

/** The answer of a person to a link. */
export type LinkAnswer<Content> = FormAnswer<Content> & {
  /** Who answered, if the server knows. */
  readonly by?: string;
  /** When, in milliseconds since the epoch. */
  readonly at: number;
  readonly timedOut?: undefined;
};

/** What another system sent to a webhook. */
export interface Received<Body> {
  readonly body: Body;
  /** When, in milliseconds since the epoch. */
  readonly at: number;
  readonly timedOut?: undefined;
}

/** A page of the server with a question. Each person who has the URL can answer, and the first answer counts. */
export interface Link<Content> {
  readonly url: string;
  /** When the time to answer is over, in milliseconds since the epoch. */
  readonly until: number;
  /** Waits for the answer: the run ends here if there is none yet. */
  answer(): Promise<LinkAnswer<Content> | TimedOut>;
}

/** A URL of the server to which another system sends JSON, once, by POST. */
export interface Webhook<Body> {
  readonly url: string;
  /** When the time to send something is over, in milliseconds since the epoch. */
  readonly until: number;
  /** Waits for the body: the run ends here if there is none yet. */
  received(): Promise<Received<Body> | TimedOut>;
}

export type FormQuestion<Content> = Question<FormAnswer<Content>>;
export type BodyOf<S> = S extends InputSchema ? ArgumentsOf<S> : unknown;
