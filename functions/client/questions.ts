import type { Client as Client2 } from '@modelcontextprotocol/client';
import { setBounded } from '../tasks/bounded-map.ts';
import type { KnownClient } from './clients.ts';
import { type Answer, NO_ANSWER, type Question, type TaskOptions } from './options.ts';

const METHOD_NOT_FOUND = -32601;
const RELATED = 'io.modelcontextprotocol/related-task';

type Listener = (question: Question, id: string) => Promise<Answer>;
interface Questions {
  /** Of each task, the listeners of its calls. The last one answers. */
  readonly asked: Map<string, readonly Listener[]>;
  /** Tasks that calls have left before their end. The streams of these calls may still bring questions. */
  readonly left: Map<string, true>;
}
const listeners = new WeakMap<KnownClient, Questions>();
const transportErrors = new WeakMap<object, () => number>();
/** The most tasks whose questions a client leaves open. */
const MOST_LEFT = 1_000;

export interface Listening {
  /** Rejects with an error of `onQuestion`. */
  readonly failed: Promise<never>;
  /** Whether `onQuestion` has a question now, or may never have one, as the client has its own handler. */
  readonly isAnswering: () => boolean;
  /** How many errors the transport has had. One of them may be the loss of a stream, which ends no request. */
  readonly transportErrors: () => number;
  /** Aborted by `end`. */
  readonly ended: AbortSignal;
  /** @param isOver whether the task has ended: a later question of another one stays open for `resumeTask` */
  end(isOver: boolean): void;
}

/**
 * Answers the questions of one task, unless the client has a handler for them. A question that arrives on two streams,
 * the session's and the result's, has one id and is asked once.
 */
export function listen(client: KnownClient, taskId: string, onQuestion: TaskOptions['onQuestion']): Listening {
  const ended = new AbortController();
  const open = new Map<string, Promise<Answer>>();
  const failed = Promise.withResolvers<never>();
  const { asked, left } = questionsOf(client);
  left.delete(taskId);
  let answering = 0;
  const answer = async (question: Question, id: string) => {
    answering++;
    try {
      if (onQuestion === undefined) throw new Error(NO_ANSWER);
      const given = await onQuestion(question);
      answering--;
      return given;
    } catch (error) {
      // An error would be an answer, and the question would be closed. Another call of the task gets it, or none.
      failed.reject(error);
      end(false);
      return asked.get(taskId)?.at(-1)?.(question, id) ?? new Promise<never>(() => {});
    }
  };
  const listener: Listener = (question, id) => {
    const answered = open.get(id) ?? answer(question, id);
    open.set(id, answered);
    return answered;
  };
  asked.set(taskId, [...(asked.get(taskId) ?? []), listener]);
  const end = (isOver: boolean) => {
    const others = asked.get(taskId)?.filter((one) => one !== listener) ?? [];
    if (others.length > 0) asked.set(taskId, others);
    else asked.delete(taskId);
    if (!isOver) setBounded(left, taskId, true, MOST_LEFT);
    ended.abort();
  };
  return {
    failed: failed.promise,
    ended: ended.signal,
    end,
    // The client may have another transport by then.
    transportErrors: () => transportErrorsOf(client)(),
    isAnswering: () => answering > 0 || hasHandler(client),
  };
}

/** Counts the errors of the client's transport. */
function transportErrorsOf({ transport }: KnownClient): () => number {
  if (transport === undefined) return () => 0;
  const known = transportErrors.get(transport);
  if (known !== undefined) return known;
  let count = 0;
  const { onerror } = transport;
  transport.onerror = (error) => {
    count++;
    onerror?.(error);
  };
  const counted = () => count;
  transportErrors.set(transport, counted);
  return counted;
}

function hasHandler(client: KnownClient): boolean {
  try {
    client.assertCanSetRequestHandler('elicitation/create');
    return false;
  } catch {
    return true;
  }
}

function questionsOf(client: KnownClient): Questions {
  const known = listeners.get(client);
  if (known !== undefined) return known;
  const questions: Questions = { asked: new Map(), left: new Map() };
  listeners.set(client, questions);
  const { asked, left } = questions;
  const own = client as Client2;
  const before = own.fallbackRequestHandler;
  own.fallbackRequestHandler = async (request, context) => {
    const { _meta, ...question } = (request.params ?? {}) as unknown as Question & {
      _meta?: Record<string, { taskId?: string }>;
    };
    const taskId = _meta?.[RELATED]?.taskId ?? '';
    const listener = request.method === 'elicitation/create' ? asked.get(taskId)?.at(-1) : undefined;
    if (listener !== undefined) return (await listener(question, String(request.id))) as never;
    if (before !== undefined) return before(request, context);
    // An error would be an answer. Another call answers, or none.
    if (left.has(taskId)) return new Promise<never>(() => {});
    throw Object.assign(new Error(`Method not found: ${request.method}`), { code: METHOD_NOT_FOUND });
  };
  return questions;
}
