import { TooManyLists } from '../../tasks/errors.ts';
import { bindingOf, sessionPartition, taskKey } from '../../tasks/ids.ts';
import { limits } from '../../tasks/limits.ts';
import { logUnexpected } from '../../tasks/log.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import type { SessionNotes } from '../../tasks/table/session-notes.ts';
import type { Call, ServerContext } from '../context.ts';
import { KEEP_ALIVE, messageFrame, primingFrame } from '../http/sse.ts';
import { complete, visible } from '../read/read.ts';
import { held, pauseFor } from './held.ts';
import { streamName } from './held-call.ts';
import { type Question, questionMessage, questionsFor, shortHash } from './questions.ts';
import { askedBefore, changeNotes, recently, SESSION_STREAM_MARK, type SessionCall } from './session-questions.ts';
import { tasksToRead } from './tasks-to-read.ts';

/**
 * The stream that a 2025-11-25 session opens by GET (B-09, B-10). It carries the questions of tasks that the client
 * only polls; a client that waits with tasks/result is asked there. The stream sends what is due and says when to come
 * back. The interval grows while no task asks. Only a client that does not resume is held: some clients, e.g. mcp-go,
 * drop the answer when the stream of the question ends.
 */
export interface SessionCursor {
  /** Questions that this client has received on this stream, as `seenMark`. */
  readonly seen: readonly string[];
  /** When a task last asked, or else when the session started, in ms since the epoch. */
  readonly activeAt: number;
  /** Whether the client came back with an event id. */
  readonly resumed: boolean;
}

interface DueQuestion {
  readonly asking: string;
  readonly question: Question;
  readonly record: TaskRecord;
  /** Among the open questions of its task. */
  readonly index: number;
}

/** A task with its open questions. */
interface AskingTask {
  readonly record: TaskRecord;
  readonly questions: readonly Question[];
}
type ReadQuestions = (record: TaskRecord) => Promise<AskingTask>;

/** A due question as a message. */
interface Asking {
  readonly asking: string;
  readonly record: TaskRecord;
  readonly message: object;
  /** Of its event. The id repeats all marks before it. */
  readonly bytes: number;
}

/** What one read of the session shows. */
interface SessionRead {
  readonly cursor: SessionCursor;
  readonly due: readonly Asking[];
  /** Whether a question that was sent on the session's stream is unanswered. */
  readonly open: boolean;
  /** Read units that it cost. */
  readonly units: number;
}

const READ_UNIT = 4_096;

const purpose = (call: SessionCall) => `session-stream:${bindingOf(call.principal)}:${call.session}`;
const MARK_LENGTH = 8;
const MARKS = new RegExp(`.{${MARK_LENGTH}}`, 'g');
const seenMark = (asking: string) => shortHash(asking, MARK_LENGTH);

function sealCursor(call: SessionCall, { seen, activeAt }: SessionCursor, name: string, server: ServerContext) {
  return server.signer.sign(purpose(call), `${activeAt.toString(36)}~${name}~${seen.join('')}`);
}

export async function openCursor(
  call: SessionCall,
  eventId: string,
  server: ServerContext,
): Promise<SessionCursor | undefined> {
  const text = await server.signer.verify(purpose(call), eventId);
  if (text === undefined) return undefined;
  const [activeAt = '', , seen = ''] = text.split('~');
  return { activeAt: Number.parseInt(activeAt, 36), seen: seen.match(MARKS) ?? [], resumed: true };
}

/**
 * In an outage it ends, or only says when to come back: the client resumes with its last event id. It says the same to a client that
 * comes too often, as after an HTTP error some clients, e.g. the TypeScript SDK, never open the stream again.
 */
export async function* sessionStream(
  start: SessionCursor,
  call: SessionCall,
  server: ServerContext,
): AsyncGenerator<string> {
  let begun = false;
  try {
    await server.pollLimit.countList(call.principal, server);
    for await (const frame of sessionFrames(start, call, server)) {
      begun = true;
      yield frame;
    }
  } catch (error) {
    logUnexpected(error, 'session stream');
    if (begun) return;
    const id = await sealCursor(call, start, streamName(), server).catch(() => undefined);
    const wait = error instanceof TooManyLists ? 1_000 * (error.retryAfter ?? 0) : 0;
    const retry = Math.max(wait, retryAfter(server.now() - start.activeAt));
    yield id === undefined ? KEEP_ALIVE : primingFrame(id, retry);
  }
}

async function* sessionFrames(start: SessionCursor, call: SessionCall, server: ServerContext) {
  const stream = streamName();
  let sequence = 0;
  let cursor = start;
  const seal = () => sealCursor(call, cursor, `${stream}${(++sequence).toString(36)}`, server);
  const priming = async () => primingFrame(await seal(), retryAfter(server.now() - cursor.activeAt));
  const questionsOf = questionReader(call, server);
  const { principal } = call;
  const until = server.now() + server.manifest.holdCap;
  let reads = 0;
  let closed = 0;
  let sent = 0;
  const read = () => readSession(cursor, sent, questionsOf, call, server);
  for await (const seen of held({ principal, until, read, pause: ({ units }) => pauseFor(units) }, server)) {
    if (seen === 'crowded') break;
    if (seen === 'waiting') {
      yield '';
      continue;
    }
    cursor = seen.cursor;
    if (++reads === 1) yield await priming();
    for (const { asking, message, bytes } of seen.due) {
      cursor = { ...cursor, seen: [...new Set([...cursor.seen, seenMark(SESSION_STREAM_MARK + asking)])] };
      yield messageFrame(message, await seal());
      sent += bytes;
    }
    closed = seen.open ? 0 : closed + 1;
    // Held for one more read after the question is closed: the reply to the client's answer may still be on its way.
    if (start.resumed || closed >= Math.min(reads, 2)) break;
  }
  if (reads > 1) yield await priming();
}

/** @param sent bytes of the events with questions that this stream has sent */
async function readSession(
  before: SessionCursor,
  sent: number,
  questionsOf: ReadQuestions,
  call: SessionCall,
  server: ServerContext,
): Promise<SessionRead> {
  const { grace, notes: most } = limits.sessionStream;
  const notes = await server.store.session(sessionPartition(call.session));
  const asked = Object.keys(notes.asked).filter(
    (asking) => asking.startsWith(SESSION_STREAM_MARK) && recently(notes, asking, server),
  );
  const received = new Set(before.seen);
  // Sent, but not received: the client came back with an older event id, or with none.
  const missed = new Set(asked.filter((asking) => !received.has(seenMark(asking))));
  // A poll that shows `input_required` leads to tasks/result (C-20): the held call has `grace` ms to ask first.
  const waitedLongEnough = new Set(
    Object.entries(notes.waiting).flatMap(([taskId, at]) => (server.now() >= at + grace ? [taskId] : [])),
  );
  const isFull = asked.length >= most;
  const here = [...missed, ...(before.resumed && !isFull ? [] : asked)];
  const taskIds = tasksToRead([...waitedLongEnough], here.map(taskIdOf), isFull, server.now());
  const tasksRead = await readTasks(taskIds, questionsOf, call, server);

  const asking = tasksRead.flatMap(({ record, questions }) =>
    questions.map((question, index) => ({ asking: `${record.taskId} ${question.askedAs}`, question, record, index })),
  );
  const stillOpen = new Set(asking.map(({ asking: name }) => SESSION_STREAM_MARK + name));
  const isRead = (taskId: string) => tasksRead.some(({ record }) => record.taskId === taskId);
  const closed = new Set(asked.filter((name) => isFull && isRead(taskIdOf(name)) && !stillOpen.has(name)));
  const askedHere = new Set(asked.filter((name) => !closed.has(name)));
  const marks = new Set([...askedHere].map(seenMark));
  const seen = before.seen.filter((mark) => marks.has(mark));
  const inTurn = asking.toSorted((a, b) => a.index - b.index);
  const due = inTurn.filter(({ asking: name, record }) => {
    if (missed.has(SESSION_STREAM_MARK + name))
      return before.resumed || mayAskAgain(notes, SESSION_STREAM_MARK + name, server);
    return waitedLongEnough.has(record.taskId) && !askedBefore(notes, name, server);
  });
  const over = tasksRead
    .map(({ record }) => record)
    .filter(({ taskId, status }) => waitedLongEnough.has(taskId) || status !== 'input_required');
  // Those that find no room in the notes or on this stream come later. One task must not take all of it.
  let room = most - askedHere.size;
  const hasRoom = ({ asking: name }: DueQuestion) => askedHere.has(SESSION_STREAM_MARK + name) || room-- > 0;
  const fitting = await withinRoom(due.filter(hasRoom), { ...before, seen }, sent, call, server);
  const now = new Set(fitting.map(({ asking: name }) => name));
  const later = new Set(due.flatMap(({ asking: name, record }) => (now.has(name) ? [] : record.taskId)));
  const heard = new Set(over.flatMap(({ taskId }) => (later.has(taskId) ? [] : taskId)));
  const claimed = await claim(fitting, heard, closed, notes, call, server);

  const times = [...Object.values(notes.waiting), ...Object.values(notes.asked)];
  const activeAt = Object.keys(notes.waiting).length > 0 ? server.now() : Math.max(before.activeAt, ...times);
  const open = claimed.length > 0 || asking.some(({ asking: name }) => askedHere.has(SESSION_STREAM_MARK + name));
  const units = Math.ceil(JSON.stringify(notes).length / READ_UNIT) + taskIds.length;
  return { cursor: { ...before, seen, activeAt }, due: claimed, open, units };
}

/** The first of these questions that one stream may send: the client comes back for the rest. At least one of each stream. */
async function withinRoom(
  due: readonly DueQuestion[],
  cursor: SessionCursor,
  sent: number,
  call: SessionCall,
  server: ServerContext,
): Promise<Asking[]> {
  const fitting: Asking[] = [];
  const id = await sealCursor(call, cursor, streamName(), server);
  let all = sent;
  for (const { asking, question, record } of due) {
    const message = await questionMessage(question, record, true, call, server);
    const bytes = Buffer.byteLength(messageFrame(message, id)) + MARK_LENGTH * (fitting.length + 1);
    if (all > 0 && all + bytes > limits.sessionStream.bytes) break;
    all += bytes;
    fitting.push({ asking, record, message, bytes });
  }
  return fitting;
}

/** After this time, the stream that asked has ended. */
function mayAskAgain(notes: SessionNotes, mark: string, server: ServerContext): boolean {
  const { askHereAgain, askAgain } = limits.sessionStream;
  const after = Math.max(askHereAgain, Math.min(server.manifest.holdCap, askAgain));
  return server.now() - (notes.asked[mark] ?? 0) >= after;
}

/**
 * Marks questions as asked before they are sent, so that two streams of a session do not ask the same. Returns those
 * that this stream may send. If they are lost on the way, they count as missed.
 *
 * @param over tasks that no longer wait for this stream to ask
 * @param closed marks of questions that are no longer open
 */
async function claim(
  due: readonly Asking[],
  over: ReadonlySet<string>,
  closed: ReadonlySet<string>,
  notes: SessionNotes,
  call: SessionCall,
  server: ServerContext,
): Promise<Asking[]> {
  if (due.length === 0 && !Object.keys(notes.waiting).some((taskId) => over.has(taskId))) return [];
  let claimed: Asking[] = [];
  await changeNotes(call, server, (now) => {
    claimed = due.filter(
      ({ asking }) => now.asked[SESSION_STREAM_MARK + asking] === notes.asked[SESSION_STREAM_MARK + asking],
    );
    const waiting = Object.entries(now.waiting).filter(([taskId]) => !over.has(taskId));
    if (claimed.length === 0 && waiting.length === Object.keys(now.waiting).length) return undefined;
    const marks = claimed.map(({ asking }) => [SESSION_STREAM_MARK + asking, server.now()] as const);
    const asked = [...Object.entries(now.asked).filter(([name]) => !closed.has(name)), ...marks];
    return { ...now, waiting: Object.fromEntries(waiting), asked: Object.fromEntries(asked) };
  });
  return claimed;
}

async function readTasks(
  taskIds: readonly string[],
  questionsOf: ReadQuestions,
  call: Call,
  server: ServerContext,
): Promise<AskingTask[]> {
  const keys = taskIds.flatMap((taskId) => taskKey(call.principal, taskId) ?? []);
  const readAt = server.now();
  const stored = keys.length > 0 ? await server.store.getMany(keys) : [];
  const allowed = visible(call.principal, stored, readAt, server);
  // A task whose input cannot be read from S3 now is left for the next read.
  const read = await Promise.all(allowed.map((record) => questionsOf(record).catch(() => undefined)));
  return read.flatMap((task) => task ?? []);
}

/** Reads the questions of a record once, until the record changes: 50 tasks can have 12 MB of them. */
function questionReader(call: Call, server: ServerContext): ReadQuestions {
  const known = new Map<string, { readonly stored: string; readonly task: AskingTask }>();
  return async (record) => {
    const stored = JSON.stringify(record);
    const before = known.get(record.taskId);
    if (before?.stored === stored) return before.task;
    const whole = await complete(record, { questions: true }, server);
    const task = { record: whole, questions: questionsFor(whole, call) };
    known.set(record.taskId, { stored, task });
    return task;
  };
}

const taskIdOf = (asking: string): string => asking.slice(SESSION_STREAM_MARK.length).split(' ')[0] ?? '';

function retryAfter(idle: number): number {
  const { min, max, shareOfIdle } = limits.sessionStream.retry;
  return Math.round(Math.min(Math.max(idle * shareOfIdle, min), max));
}
