import { createHash, randomUUID } from 'node:crypto';
import { bindingOf, sessionPartition, taskKey } from '../../tasks/ids.ts';
import { limits } from '../../tasks/limits.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { hasScopes } from '../caller.ts';
import { logUnexpected } from '../log.ts';
import type { Call, Server } from '../server.ts';
import { present } from '../task-view.ts';
import { askedBefore, changeNotes, HERE, recently, type SessionCall } from './asked.ts';
import { questionsFor } from './questions.ts';
import { KEEP_ALIVE, messageFrame, primingFrame } from './sse.ts';

/**
 * The stream that a 2025-11-25 session opens by GET (B-09, B-10). On it come the questions of tasks whose client only
 * polls; whoever waits with tasks/result is asked there. Nothing is held: the stream says what there is to say and when
 * to come back, ever more rarely while nobody asks.
 */
export interface SessionCursor {
  /** Questions this client has seen on this stream, as `short`. */
  readonly seen: readonly string[];
  /** When a task last asked, in ms since the epoch. */
  readonly activeAt: number;
}

interface Due {
  readonly asking: string;
  readonly message: object;
}

const purpose = (call: SessionCall) => `session-stream:${bindingOf(call.principal)}:${call.session}`;
const short = (asking: string) => createHash('sha256').update(asking).digest('base64url').slice(0, 8);

export async function openCursor(
  call: SessionCall,
  eventId: string,
  server: Server,
): Promise<SessionCursor | undefined> {
  return (await server.signer.open(purpose(call), eventId)) as SessionCursor | undefined;
}

/** In an outage it ends, or says only when to come back: the client has the id of what it saw. */
export async function* sessionStream(start: SessionCursor, call: SessionCall, server: Server): AsyncGenerator<string> {
  let begun = false;
  try {
    for await (const frame of said(start, call, server)) {
      begun = true;
      yield frame;
    }
  } catch (error) {
    logUnexpected(error, 'session stream');
    if (begun) return;
    const sealed = server.signer.seal(purpose(call), { ...start, stream: randomUUID(), sequence: 0 });
    const id = await sealed.catch(() => undefined);
    yield id === undefined ? KEEP_ALIVE : primingFrame(id, retryAfter(server.now() - start.activeAt));
  }
}

async function* said(start: SessionCursor, call: SessionCall, server: Server): AsyncGenerator<string> {
  const { grace, tasks } = limits.sessionStream;
  const notes = await server.store.session(sessionPartition(call.session));
  const here = Object.keys(notes.asked).filter((asking) => asking.startsWith(HERE) && recently(notes, asking, server));
  let cursor = { ...start, seen: start.seen.filter((mark) => here.some((asking) => short(asking) === mark)) };
  const stream = randomUUID();
  let sequence = 0;
  const seal = () => server.signer.seal(purpose(call), { ...cursor, stream, sequence: ++sequence });

  // Whoever calls tasks/result, to which a poll that finds `input_required` leads (C-20), has so long to be asked there.
  const ripe = Object.entries(notes.waiting).filter(([, at]) => server.now() >= at + grace);
  // The answer that carried these was lost on its way: the client came back with an older event id.
  const missed = here.filter((asking) => !cursor.seen.includes(short(asking)));
  const taskIds = [...new Set([...missed.map(taskIdOf), ...ripe.map(([taskId]) => taskId)])].slice(0, tasks);
  const records = await read(taskIds, call, server);
  const due: Due[] = [];
  for (const record of records.filter(({ status }) => status === 'input_required')) {
    const asked = { asked: [], stream, sequence, delivers: 'result' } as const;
    for (const { message, askedAs } of await questionsFor(asked, record, call, server)) {
      const asking = `${record.taskId} ${askedAs}`;
      if (missed.includes(HERE + asking) || !askedBefore(notes, asking, server)) due.push({ asking, message });
    }
  }

  // Claimed before they are sent: two streams of a session at once do not ask the same. Lost on the way, they are missed.
  const claimed = new Set<string>();
  const over = records.map(({ taskId }) => taskId);
  const changed = (now: typeof notes) =>
    due.filter(({ asking }) => now.asked[HERE + asking] === notes.asked[HERE + asking]);
  if (over.length > 0) {
    await changeNotes(call, server, (now) => {
      claimed.clear();
      for (const { asking } of changed(now)) claimed.add(asking);
      const waiting = Object.entries(now.waiting).filter(([taskId]) => !over.includes(taskId));
      const marks = [...claimed].map((asking) => [HERE + asking, server.now()] as const);
      return { ...now, waiting: Object.fromEntries(waiting), asked: { ...now.asked, ...Object.fromEntries(marks) } };
    });
  }

  if (Object.keys(notes.waiting).length > 0) cursor = { ...cursor, activeAt: server.now() };
  yield primingFrame(await seal(), retryAfter(server.now() - cursor.activeAt));
  for (const { asking, message } of due) {
    if (!claimed.has(asking)) continue;
    cursor = { ...cursor, seen: [...new Set([...cursor.seen, short(HERE + asking)])] };
    yield messageFrame(message, await seal());
  }
}

async function read(taskIds: readonly string[], call: Call, server: Server): Promise<TaskRecord[]> {
  const keys = taskIds.flatMap((taskId) => taskKey(call.principal, taskId) ?? []);
  const stored = keys.length > 0 ? await server.store.getMany(keys) : [];
  const records = stored.flatMap((record) => present(record, server) ?? []);
  return records.filter((record) => hasScopes(call.principal, record, server));
}

const taskIdOf = (asking: string): string => asking.slice(HERE.length).split(' ')[0] ?? '';

function retryAfter(idle: number): number {
  const { min, max, shareOfIdle } = limits.sessionStream.retry;
  return Math.round(Math.min(Math.max(idle * shareOfIdle, min), max));
}
