import { bindingOf } from '../../tasks/ids.ts';
import { outstanding } from '../../tasks/input.ts';
import { kindOf } from '../../tasks/question.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import type { Call, Server } from '../server.ts';
import { questionParams } from '../wire/2025-11-25.ts';
import type { HeldCall } from './held-call.ts';

export interface Question {
  readonly message: object;
  /** Remembered in the stream's event ids, so that a resumed stream does not ask twice. */
  readonly askedAs: string;
}

/** What the id of a question says: an answer is matched by it alone (B-19). */
export interface QuestionId {
  readonly taskId: string;
  readonly key: string;
}

export const questionPurpose = (call: Pick<Call, 'principal'>) => `question:${bindingOf(call.principal)}`;

/** Of the questions asked on a stream those that are open: no other comes again, and event ids have no room for all. */
export function stillOpen(asked: readonly string[], record: TaskRecord): string[] {
  const open = outstanding(record);
  return asked.filter((askedAs) => Object.hasOwn(open, askedAs.slice(0, askedAs.lastIndexOf('#'))));
}

/**
 * 2025-11-25 asks with requests of its own (C-20, C-21): each question once per stream, again after an answer that
 * was refused, and only kinds the client declared (B-17).
 */
export async function questionsFor(
  held: Pick<HeldCall, 'asked' | 'stream' | 'sequence' | 'delivers'>,
  record: TaskRecord,
  call: Call,
  server: Server,
): Promise<Question[]> {
  if (call.wire.era !== 'legacy') return [];
  const questions: Question[] = [];
  for (const [key, request] of Object.entries(outstanding(record))) {
    const askedAs = `${key}#${record.refused?.[key] ?? 0}`;
    if (held.asked.includes(askedAs) || !call.accepts.includes(kindOf(request))) continue;
    const content: QuestionId & { stream: string; sequence: number } = {
      taskId: record.taskId,
      key,
      stream: held.stream,
      sequence: held.sequence,
    };
    const id = await server.signer.seal(questionPurpose(call), { ...content, at: server.now() });
    const params = questionParams(request, record, key, held.delivers === 'result');
    questions.push({ message: { jsonrpc: '2.0', id, method: request.method, params }, askedAs });
  }
  return questions;
}
