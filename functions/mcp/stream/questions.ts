import { createHash } from 'node:crypto';
import { bindingOf } from '../../tasks/ids.ts';
import { outstanding, refusalsOf } from '../../tasks/input.ts';
import { kindOf } from '../../tasks/questions/question.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import type { InputRequest } from '../../tasks/tool-contract.ts';
import { waitOf } from '../../tasks/waits/signal-url.ts';
import type { Call, ServerContext } from '../context.ts';
import { questionParams } from '../wire/2025-11-25.ts';

export interface Question {
  readonly key: string;
  readonly request: InputRequest;
  /** Short: event ids and the notes of a session keep it, so that no question is asked twice. */
  readonly askedAs: string;
}

/** The content of a question's JSON-RPC id, which finds the question for an answer (B-19). */
export interface QuestionId {
  readonly taskId: string;
  /** The hash of the question's key, by `shortHash`. */
  readonly mark: string;
  /** How many answers to it had been refused when it was asked. */
  readonly refusals: number;
}

export type HasPrincipal = Pick<Call, 'principal'>;
const purpose = (call: HasPrincipal) => `question:${bindingOf(call.principal)}`;

/** A short hash of a text, e.g. for an event id. */
export const shortHash = (text: string, length: number): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, length);
const MARK_LENGTH = 8;

/** The same on every stream, so a client that is asked again recognises it. New after a refused answer (B-19). */
export function questionId(
  call: HasPrincipal,
  record: Pick<TaskRecord, 'taskId' | 'refused'>,
  key: string,
  server: ServerContext,
): Promise<string> {
  const text = `${record.taskId}.${shortHash(key, MARK_LENGTH)}.${refusalsOf(record, key)}`;
  return server.signer.sign(purpose(call), text);
}

export async function openQuestionId(
  call: HasPrincipal,
  id: unknown,
  server: ServerContext,
): Promise<QuestionId | undefined> {
  const text = typeof id === 'string' ? await server.signer.verify(purpose(call), id) : undefined;
  const [taskId, mark, refusals] = text?.split('.') ?? [];
  return taskId === undefined || mark === undefined ? undefined : { taskId, mark, refusals: Number(refusals) };
}

/** The key of the question with this id. Undefined if the question is closed. */
export const openKey = (record: TaskRecord, { mark }: QuestionId): string | undefined =>
  Object.keys(outstanding(record)).find((key) => shortHash(key, MARK_LENGTH) === mark);

/**
 * The open questions for a 2025-11-25 client (C-20, C-21), only of kinds that it declared (B-17). `askedAs` changes
 * after a refused answer, so a stream asks each question once, and once more after each refused answer.
 */
export function questionsFor(record: TaskRecord, call: Call): Question[] {
  if (!call.wire.asksOnStream) return [];
  return Object.entries(outstanding(record))
    .filter(([, request]) => call.accepts.includes(kindOf(request)))
    .map(([key, request]) => {
      const askedAs = shortHash(`${key}#${refusalsOf(record, key)}`, MARK_LENGTH);
      return { key, request, askedAs };
    });
}

const LINK_MARK_LENGTH = 5;
/** A link in event ids and in its `elicitationId`: so no record says which links a client was given (B-18). */
export const linkMark = (name: string): string => shortHash(name, LINK_MARK_LENGTH);

/** The mark of the link that a question gives to the client. Undefined: it gives none of its task, or has an id of the tool. */
export function givenLink({ params = {} }: InputRequest, { hookKey }: TaskRecord): string | undefined {
  if (params.mode !== 'url' || params.elicitationId !== undefined || hookKey === undefined) return undefined;
  const name = waitOf(String(params.url), hookKey);
  return name === undefined ? undefined : linkMark(name);
}

/** A question as a JSON-RPC request to the client. `related`: the client knows the task. */
export async function questionMessage(
  { key, request }: Question,
  record: TaskRecord,
  related: boolean,
  call: Call,
  server: ServerContext,
): Promise<object> {
  const id = await questionId(call, record, key, server);
  const name = givenLink(request, record) ?? key;
  return { jsonrpc: '2.0', id, method: request.method, params: questionParams(request, record, name, related) };
}
