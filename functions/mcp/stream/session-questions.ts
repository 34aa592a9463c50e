import { sessionPartition } from '../../tasks/ids.ts';
import { limits } from '../../tasks/limits.ts';
import { logUnexpected } from '../../tasks/log.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import type { SessionNotes, Times } from '../../tasks/table/session-notes.ts';
import type { Call, ServerContext } from '../context.ts';
import { sessionExpires } from '../identity/session.ts';
import { complete } from '../read/read.ts';
import { questionsFor } from './questions.ts';

/**
 * A call of a 2025-11-25 session. The session's notes say what it was asked, so that its stream and its held calls do not
 * ask the same twice. A mark expires, because a question or its answer may be lost: a question asked twice is a
 * nuisance, a question that is never asked again costs the task.
 */
export type SessionCall = Call & { readonly session: string };

/** Begins the keys in `SessionNotes.asked` of questions sent on the session's stream, not by a held call. */
export const SESSION_STREAM_MARK = '!';

/** Only a client that can be asked needs a stream of its session. */
export function offersSessionStream(call: Call, server: ServerContext): call is SessionCall {
  return server.manifest.questionStream && call.session !== undefined && call.tasks && call.accepts.length > 0;
}

/** Whether the mark has not expired. */
export function recently(notes: SessionNotes, mark: string, server: ServerContext): boolean {
  return server.now() - (notes.asked[mark] ?? 0) < limits.sessionStream.askAgain;
}

/** Whether any stream of this session has asked it. */
export function askedBefore(notes: SessionNotes, asking: string, server: ServerContext): boolean {
  return recently(notes, asking, server) || recently(notes, SESSION_STREAM_MARK + asking, server);
}

/** Whether the session's stream has just asked this question, so that a held call does not. */
export function askedOnSessionStream(
  record: TaskRecord,
  askedAs: string,
  notes: SessionNotes | undefined,
  server: ServerContext,
): boolean {
  const at = notes?.asked[`${SESSION_STREAM_MARK}${record.taskId} ${askedAs}`];
  return at !== undefined && server.now() - at < limits.sessionStream.silence;
}

/** Notes that a poll showed a waiting task: the session's stream asks its questions, unless they were asked. */
export async function noteQuestions(record: TaskRecord, call: Call, server: ServerContext): Promise<void> {
  if (record.status !== 'input_required' || !offersSessionStream(call, server)) return;
  const { taskId } = record;
  await bestEffort(async () => {
    const notes = await server.store.session(sessionPartition(call.session));
    if (notes.waiting[taskId] !== undefined) return;
    const questions = questionsFor(await complete(record, { questions: true }, server), call);
    if (questions.every(({ askedAs }) => askedBefore(notes, `${taskId} ${askedAs}`, server))) return;
    await changeNotes(call, server, (now) => ({ ...now, waiting: { ...now.waiting, [taskId]: server.now() } }));
  });
}

/** Notes what a held call asks, so that the session's stream does not ask it. */
export async function noteAsked(record: TaskRecord, askedAs: readonly string[], call: Call, server: ServerContext) {
  if (askedAs.length === 0 || !offersSessionStream(call, server)) return;
  const marks = askedAs.map((as) => [`${record.taskId} ${as}`, server.now()] as const);
  await bestEffort(() =>
    changeNotes(call, server, (now) => ({ ...now, asked: { ...now.asked, ...Object.fromEntries(marks) } })),
  );
}

/** A failure of the notes must not fail a poll or a question. */
async function bestEffort(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    logUnexpected(error, 'session notes');
  }
}

/** Changes the session notes. Drops expired entries, so that the notes stay small. */
export async function changeNotes(
  call: SessionCall,
  server: ServerContext,
  change: (notes: SessionNotes) => SessionNotes,
): Promise<void> {
  const { askAgain, notes: most } = limits.sessionStream;
  const fresh = (times: Times): Times =>
    Object.fromEntries(
      Object.entries(times)
        .filter(([, at]) => server.now() - at < askAgain)
        .sort(([, a], [, b]) => b - a)
        .slice(0, most),
    );
  const trimmed = (notes: SessionNotes) => ({ ...notes, waiting: fresh(notes.waiting), asked: fresh(notes.asked) });
  await server.store.updateSession(
    sessionPartition(call.session),
    (notes) => trimmed(change(notes)),
    sessionExpires(server),
  );
}
