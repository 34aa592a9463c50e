import { createHash, randomUUID } from 'node:crypto';
import { sessionPartition, taskKey } from '../../tasks/ids.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import type { SessionNotes } from '../../tasks/session-notes.ts';
import type { Call, Server } from '../server.ts';
import { sessionExpires } from '../session.ts';
import { present } from '../task-view.ts';
import { questionsFor } from './questions.ts';
import { messageFrame, primingFrame } from './sse.ts';

/**
 * The stream that a 2025-11-25 session opens by GET (B-09, B-10). On it come the questions of tasks whose client only
 * polls (`noteQuestions`); whoever waits with tasks/result is asked there, and never twice. Nothing is held: the
 * stream says what there is to say and when to come back, ever more rarely while nobody asks.
 */
export interface SessionCursor {
  /** Questions this client has seen on this stream, as `short`. */
  readonly seen: readonly string[];
  /** When a task last asked, in ms since the epoch. */
  readonly activeAt: number;
}

/** Whoever calls tasks/result, which a poll that finds `input_required` leads to (C-20), has so long to be asked there. */
const GRACE = 1_500;
const RETRY = { min: 1_000, max: 30_000, shareOfIdle: 0.15 };
/** More than this are not remembered as asked: one session asks that often before it forgets the oldest. */
const REMEMBERED = 100;
const TASKS = 50;
/** Marks what was asked on this stream, not on that of a held call. */
const HERE = '!';

const purpose = (session: string) => `session-stream:${session}`;
const short = (asking: string) => createHash('sha256').update(asking).digest('base64url').slice(0, 8);

export async function openCursor(session: string, eventId: string, server: Server): Promise<SessionCursor | undefined> {
  return (await server.signer.open(purpose(session), eventId)) as SessionCursor | undefined;
}

export async function* sessionStream(
  start: SessionCursor,
  session: string,
  call: Call,
  server: Server,
): AsyncGenerator<string> {
  const partition = sessionPartition(session);
  const notes = await server.store.session(partition);
  const here = notes.asked.filter((asking) => asking.startsWith(HERE));
  let cursor = { ...start, seen: start.seen.filter((mark) => here.some((asking) => short(asking) === mark)) };
  const stream = randomUUID();
  let sequence = 0;
  const seal = () => server.signer.seal(purpose(session), { ...cursor, stream, sequence: ++sequence });

  const ripe = server.now() >= notes.waitingSince + GRACE ? notes.waiting : [];
  // The answer that carried these was lost on its way: the client came back with an older event id.
  const missed = here.filter((asking) => !cursor.seen.includes(short(asking))).map(taskIdOf);
  const records = await input([...new Set([...ripe, ...missed])], call, server);
  const over = ripe.filter((taskId) => !records.some((record) => record.taskId === taskId));
  if (over.length > 0) await server.store.forgetWaiting(partition, over);

  if (notes.waiting.length > 0) cursor = { ...cursor, activeAt: server.now() };
  yield primingFrame(await seal(), retryAfter(server.now() - cursor.activeAt));
  for (const record of records) {
    const asked = { asked: [], stream, sequence, delivers: 'result' } as const;
    for (const { message, askedAs } of await questionsFor(asked, record, call, server)) {
      const asking = askingOf(record, askedAs);
      if (notes.asked.includes(asking) || cursor.seen.includes(short(HERE + asking))) continue;
      await remember(partition, notes, record, [HERE + asking], server);
      cursor = { ...cursor, seen: [...cursor.seen, short(HERE + asking)] };
      yield messageFrame(message, await seal());
    }
  }
}

/** The tasks among these that wait for input. */
async function input(taskIds: readonly string[], call: Call, server: Server): Promise<TaskRecord[]> {
  const keys = taskIds.slice(0, TASKS).flatMap((taskId) => taskKey(call.principal, taskId) ?? []);
  const stored = keys.length > 0 ? await server.store.getMany(keys) : [];
  return stored.flatMap((record) => present(record, server) ?? []).filter(({ status }) => status === 'input_required');
}

/** A poll has shown this client that a task asks: unless it was asked already, this session's stream will ask it. */
export async function noteQuestions(record: TaskRecord, call: Call, server: Server): Promise<void> {
  if (record.status !== 'input_required' || !offersSessionStream(call, server)) return;
  const partition = sessionPartition(call.session);
  const notes = await server.store.session(partition);
  if (notes.waiting.includes(record.taskId)) return;
  const questions = await questionsFor(
    { asked: [], stream: '', sequence: 0, delivers: 'result' },
    record,
    call,
    server,
  );
  const open = questions.map(({ askedAs }) => askingOf(record, askedAs));
  if (open.every((asking) => notes.asked.includes(asking) || notes.asked.includes(HERE + asking))) return;
  await server.store.noteWaiting(partition, record.taskId, server.now(), sessionExpires(server));
}

/** A held call asks: the session's stream will not. */
export async function noteAsked(
  record: TaskRecord,
  askedAs: readonly string[],
  notes: SessionNotes | undefined,
  call: Call,
  server: Server,
): Promise<void> {
  if (askedAs.length === 0 || notes === undefined || !offersSessionStream(call, server)) return;
  const askings = askedAs.map((as) => askingOf(record, as));
  await remember(sessionPartition(call.session), notes, record, askings, server);
}

/** Whether this session's own stream has asked this already. */
export function askedHere(record: TaskRecord, askedAs: string, notes: SessionNotes | undefined): boolean {
  return notes?.asked.includes(HERE + askingOf(record, askedAs)) === true;
}

/** Only a client that can be asked has use for it. */
export function offersSessionStream(call: Call, server: Server): call is Call & { readonly session: string } {
  return server.manifest.questionStream && call.session !== undefined && call.tasks && call.accepts.length > 0;
}

function remember(
  partition: string,
  { asked }: SessionNotes,
  { taskId }: TaskRecord,
  askings: readonly string[],
  server: Server,
): Promise<void> {
  return server.store.noteAsked(partition, taskId, askings, asked.length > REMEMBERED, sessionExpires(server));
}

const askingOf = ({ taskId }: TaskRecord, askedAs: string): string => `${taskId} ${askedAs}`;
const taskIdOf = (asking: string): string => asking.slice(HERE.length).split(' ')[0] ?? '';

function retryAfter(idle: number): number {
  return Math.round(Math.min(Math.max(idle * RETRY.shareOfIdle, RETRY.min), RETRY.max));
}
