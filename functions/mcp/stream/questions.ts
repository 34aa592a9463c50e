import { createHash } from 'node:crypto';
import { bindingOf } from '../../tasks/ids.ts';
import { outstanding } from '../../tasks/input.ts';
import { kindOf } from '../../tasks/questions/question.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import type { InputRequest } from '../../tasks/tool-contract.ts';
import type { Call, ServerContext } from '../context.ts';
import { questionParams } from '../wire/2025-11-25.ts';

export interface Question {
  readonly key: string;
  readonly request: InputRequest;
  /** Remembered in the stream's event ids, so that a resumed stream does not ask twice. */
  readonly askedAs: string;
}

/** What the id of a question says: an answer is matched by it alone (B-19). */
export interface QuestionId {
  readonly taskId: string;
  /** Of the key, as `markOf`. */
  readonly mark: string;
}

type HasPrincipal = Pick<Call, 'principal'>;
const purpose = (call: HasPrincipal) => `question:${bindingOf(call.principal)}`;

/** Stands for a text where there is little room, e.g. in an event id. */
export const markOf = (text: string, length: number): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, length);
const MARK = 8;

/**
 * A question has one id as long as it is open, on whatever stream it is sent: a client that is asked again can tell
 * that it is the same. After a refused answer it is another request (B-19).
 */
export function questionId(
  call: HasPrincipal,
  { taskId, refused }: Pick<TaskRecord, 'taskId' | 'refused'>,
  key: string,
  server: ServerContext,
): Promise<string> {
  const text = `${taskId}.${markOf(key, MARK)}.${refused?.[key] ?? 0}`;
  return server.signer.sign(purpose(call), text);
}

export async function openQuestionId(
  call: HasPrincipal,
  id: unknown,
  server: ServerContext,
): Promise<QuestionId | undefined> {
  const text = typeof id === 'string' ? await server.signer.verify(purpose(call), id) : undefined;
  const [taskId, mark] = text?.split('.') ?? [];
  return taskId === undefined || mark === undefined ? undefined : { taskId, mark };
}

/** The key that an id names, if its question is open. */
export const openKey = (record: TaskRecord, { mark }: QuestionId): string | undefined =>
  Object.keys(outstanding(record)).find((key) => markOf(key, MARK) === mark);

/**
 * What 2025-11-25 asks this client (C-20, C-21): only kinds that it declared (B-17). Each is asked once per stream, and
 * again after an answer that was refused.
 */
export function questionsFor(record: TaskRecord, call: Call): Question[] {
  if (call.wire.era !== 'legacy') return [];
  return Object.entries(outstanding(record))
    .filter(([, request]) => call.accepts.includes(kindOf(request)))
    .map(([key, request]) => ({ key, request, askedAs: `${key}#${record.refused?.[key] ?? 0}` }));
}

/** A question as the request of ours that it is. `related`: the client knows of the task. */
export async function questionMessage(
  { key, request }: Question,
  record: TaskRecord,
  related: boolean,
  call: Call,
  server: ServerContext,
): Promise<object> {
  const id = await questionId(call, record, key, server);
  return { jsonrpc: '2.0', id, method: request.method, params: questionParams(request, record, key, related) };
}
