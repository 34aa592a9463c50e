import type { Client as Client2 } from '@modelcontextprotocol/client';
import type { KnownClient } from './clients.ts';
import { type Answer, NO_ANSWER, type Question, type TaskOptions } from './options.ts';

const METHOD_NOT_FOUND = -32601;
const RELATED = 'io.modelcontextprotocol/related-task';

type Listener = (question: Question, id: string) => Promise<Answer>;
const listeners = new WeakMap<KnownClient, Map<string, Listener>>();

export interface Listening {
  /** Rejects with an error of `onQuestion`. */
  readonly failed: Promise<never>;
  /** Whether `onQuestion` has a question now, or may never have one, as the client has its own handler. */
  readonly isAnswering: () => boolean;
  /** Aborted by `end`. */
  readonly ended: AbortSignal;
  end(): void;
}

/**
 * Answers the questions of one task, unless the client has a handler for them. A question that arrives on two streams,
 * the session's and the result's, has one id and is asked once.
 */
export function listen(client: KnownClient, taskId: string, onQuestion: TaskOptions['onQuestion']): Listening {
  const ended = new AbortController();
  const open = new Map<string, Promise<Answer>>();
  const failed = Promise.withResolvers<never>();
  const asked = askedOf(client);
  let answering = 0;
  const answer = async (question: Question) => {
    answering++;
    try {
      if (onQuestion === undefined) throw new Error(NO_ANSWER);
      const given = await onQuestion(question);
      answering--;
      return given;
    } catch (error) {
      // An error would be an answer, and the question would be closed.
      failed.reject(error);
      return new Promise<never>(() => {});
    }
  };
  asked.set(taskId, (question, id) => {
    const answered = open.get(id) ?? answer(question);
    open.set(id, answered);
    return answered;
  });
  const end = () => {
    asked.delete(taskId);
    ended.abort();
  };
  return { failed: failed.promise, isAnswering: () => answering > 0 || hasHandler(client), ended: ended.signal, end };
}

function hasHandler(client: KnownClient): boolean {
  try {
    client.assertCanSetRequestHandler('elicitation/create');
    return false;
  } catch {
    return true;
  }
}

function askedOf(client: KnownClient): Map<string, Listener> {
  const known = listeners.get(client);
  if (known !== undefined) return known;
  const asked = new Map<string, Listener>();
  listeners.set(client, asked);
  const own = client as Client2;
  const before = own.fallbackRequestHandler;
  own.fallbackRequestHandler = async (request, context) => {
    const { _meta, ...question } = (request.params ?? {}) as unknown as Question & {
      _meta?: Record<string, { taskId?: string }>;
    };
    const listener = request.method === 'elicitation/create' ? asked.get(_meta?.[RELATED]?.taskId ?? '') : undefined;
    if (listener !== undefined) return (await listener(question, String(request.id))) as never;
    if (before !== undefined) return before(request, context);
    throw Object.assign(new Error(`Method not found: ${request.method}`), { code: METHOD_NOT_FOUND });
  };
  return asked;
}
