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
export function recently(
  notes: SessionNotes | undefined,
  mark: string,
  server: ServerContext,
  within: number = limits.sessionStream.askAgain,
): boolean {
  return server.now() - (notes?.asked[mark] ?? 0) < within;
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
  return recently(notes, `${SESSION_STREAM_MARK}${record.taskId} ${askedAs}`, server, limits.sessionStream.silence);
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
    await server.pollLimit.countList(call.principal, server);
    await changeNotes(call, server, (now) =>
      now.waiting[taskId] === undefined ? { ...now, waiting: { ...now.waiting, [taskId]: server.now() } } : undefined,
    );
  });
}

/**
 * Notes what a held call asks, so that the session's stream does not ask it. Repeats within `silence` write nothing. It
 * counts as a list, since it writes all notes; a question that the count refuses is asked, but not noted.
 *
 * @param before the notes as the call has read them
 */
export async function noteAsked(
  record: TaskRecord,
  askedAs: readonly string[],
  before: SessionNotes | undefined,
  call: Call,
  server: ServerContext,
): Promise<void> {
  if (!offersSessionStream(call, server)) return;
  const marks = askedAs.map((as) => `${record.taskId} ${as}`);
  const noted = (notes?: SessionNotes) =>
    marks.every((mark) => recently(notes, mark, server, limits.sessionStream.silence));
  if (noted(before)) return;
  await bestEffort(async () => {
    await server.pollLimit.countList(call.principal, server);
    await changeNotes(call, server, (now) => {
      if (noted(now)) return undefined;
      const added = Object.fromEntries(marks.map((mark) => [mark, server.now()]));
      return { ...now, asked: { ...now.asked, ...added } };
    });
  });
}

/** A failure of the notes must not fail a poll or a question. */
async function bestEffort(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    logUnexpected(error, 'session notes');
  }
}

/** Changes the session notes, unless `change` gives undefined. Drops expired entries, so that the notes stay small. */
export async function changeNotes(
  call: SessionCall,
  server: ServerContext,
  change: (notes: SessionNotes) => SessionNotes | undefined,
): Promise<void> {
  const { askAgain, notes: most } = limits.sessionStream;
  const fresh = (times: Times): Times =>
    Object.fromEntries(
      Object.entries(times)
        .filter(([, at]) => server.now() - at < askAgain)
        .sort(([, a], [, b]) => b - a)
        .slice(0, most),
    );
  const trimmed = (notes: SessionNotes | undefined) =>
    notes && { ...notes, waiting: fresh(notes.waiting), asked: fresh(notes.asked) };
  await server.store.updateSession(
    sessionPartition(call.session),
    (notes) => trimmed(change(notes)),
    sessionExpires(server),
  );
}
