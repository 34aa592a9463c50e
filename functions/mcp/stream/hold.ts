import { sessionPartition } from '../../tasks/ids.ts';
import { limits } from '../../tasks/limits.ts';
import { logUnexpected } from '../../tasks/log.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { LOG_LEVELS, type LogLevel } from '../../tasks/table/session-notes.ts';
import { isTerminal } from '../../tasks/transitions/change.ts';
import { storedSignals } from '../../tasks/waits/signals.ts';
import type { Call, ServerContext } from '../context.ts';
import { KEEP_ALIVE, messageFrame, primingFrame } from '../http/sse.ts';
import { requestName } from '../protocol/call-params.ts';
import { elicitationComplete } from '../wire/2025-11-25.ts';
import { stillRunningResult } from '../wire/still-running-result.ts';
import { answerDue, answerMessage } from './answer-due.ts';
import { watch } from './held.ts';
import { askedMark, type HeldCall, sealHeld, sentOf, streamName } from './held-call.ts';
import { givenLink, linkMark, questionMessage, questionsFor } from './questions.ts';
import { askedOnSessionStream, noteAsked } from './session-questions.ts';

const RETRY = 1_000;

/**
 * The stream of a held call: progress, questions (2025-11-25), the answer. In 2025-11-25 it lasts at most `holdCap`;
 * then the client resumes it with the last event id (C-18, C-19). In 2026-07-28 a stream cannot be resumed (D-32), so
 * it lasts until the answer. A caller with too many streams is not held: it resumes later, or learns that the tool is
 * still running.
 */
export async function* hold(start: HeldCall, call: Call, server: ServerContext): AsyncGenerator<string> {
  const { asksOnStream, resumable } = call.wire;
  let held: HeldCall = { ...start, stream: streamName() };
  let retry = RETRY;
  /** The links that this stream has reported as over. Their questions may still be open. */
  const reported = new Set<string>();
  const send = async (message: object | undefined, change: Partial<HeldCall> = {}) => {
    held = { ...held, ...change, sequence: held.sequence + 1 };
    const id = resumable ? await sealHeld(call, held, server) : undefined;
    if (message !== undefined) return messageFrame(message, id);
    return id === undefined ? KEEP_ALIVE : primingFrame(id, retry);
  };
  try {
    const notes = call.session === undefined ? undefined : await server.store.session(sessionPartition(call.session));
    // A stream that cannot be resumed lasts until its answer is due.
    const cap = server.now() + server.manifest.holdCap;
    const until = resumable ? cap : Math.max(cap, held.closesAt);
    yield await send(undefined);
    const needs = { state: true, questions: asksOnStream } as const;
    for await (const record of watch(call.principal, start, until, server, needs)) {
      if (record === 'waiting') {
        yield '';
        continue;
      }
      if (record === 'crowded') {
        retry = limits.streamRetryAfter;
        if (resumable) break;
        const running = { tool: String(call.params.name), taskId: held.taskId };
        const closed = await answerMessage(held, () => call.wire.toolResult(stillRunningResult(running, server)));
        return yield await send(closed, { answered: true });
      }
      // The client has cancelled this call, which gets no answer (B-15). Another call under its key does.
      if (record?.unheard && record.call === requestName(call.session ?? '', held.id) && held.delivers === 'call')
        return;
      const answer = answerDue(record, held, call, server);
      if (held.tokenOfTask && record?.progressToken !== undefined)
        held = { ...held, progressToken: record.progressToken };
      if (record !== undefined && record.updatedAt > held.seenAt && record.status === 'working') {
        const progress = progressMessage(held, record);
        const log = logMessage(notes?.logLevel, record);
        const mark = { seenAt: record.updatedAt };
        if (progress) yield await send(progress.message, { progress: progress.value, ...(!log && mark) });
        if (log) yield await send(log, mark);
        held = { ...held, seenAt: record.updatedAt };
      }
      const open = record === undefined ? [] : questionsFor(record, call);
      if (record !== undefined) {
        // Also those that another stream of this session has asked.
        const given = open.flatMap(({ request }) => givenLink(request, record) ?? []);
        held = { ...held, links: [...new Set([...held.links, ...given])].filter((mark) => !reported.has(mark)) };
        for (const mark of await linksOver(held, record, server)) {
          const links = held.links.filter((one) => one !== mark);
          reported.add(mark);
          yield await send(elicitationComplete(record, mark), { links });
        }
      }
      if (answer) return yield await send(await answerMessage(held, answer), { answered: true });
      if (record === undefined) continue;
      const marks = open.map(({ askedAs }) => askedMark(askedAs));
      const sent = sentOf(held, marks);
      const due = open.filter(
        ({ askedAs }) => !sent.has(askedMark(askedAs)) && !askedOnSessionStream(record, askedAs, notes, server),
      );
      const askedAs = due.map((question) => question.askedAs);
      await noteAsked(record, askedAs, notes, call, server);
      let asked = marks.filter((mark) => sent.has(mark));
      for (const question of due) {
        const message = await questionMessage(question, record, held.delivers === 'result', call, server);
        // In order: an event id sorts them, which then takes no time, however many there are.
        asked = [...asked, askedMark(question.askedAs)].sort();
        yield await send(message, { asked });
      }
      if (record.status === 'input_required') held = { ...held, closesAt: server.now() + server.manifest.inlineWindow };
    }
    if (resumable) yield await send(undefined);
  } catch (error) {
    const thrown = () => Promise.reject(error);
    yield messageFrame(await answerMessage(held, thrown));
  }
}

/** The links that the client was given whose wait has its signal, or is over (B-18). */
async function linksOver({ links }: HeldCall, record: TaskRecord, server: ServerContext): Promise<readonly string[]> {
  if (links.length === 0 || isTerminal(record.status)) return links;
  try {
    const over = storedSignals(await server.inputs.whole(record)).map(([name]) => linkMark(name));
    return links.filter((mark) => over.includes(mark));
  } catch (error) {
    // The end of the task says it, too.
    logUnexpected(error, 'links over');
    return [];
  }
}

/** A record's progress as a notification for the client's progress token. Values strictly increase (A-22, C-33). */
export function progressMessage(held: HeldCall, record: TaskRecord): { message: object; value: number } | undefined {
  if (held.progressToken === undefined || record.statusMessage === undefined) return undefined;
  const value = record.progress ?? held.progress + 1;
  if (value <= held.progress) return undefined;
  const params = {
    progressToken: held.progressToken,
    progress: value,
    ...(record.progressTotal !== undefined && { total: record.progressTotal }),
    message: record.statusMessage,
  };
  return { message: { jsonrpc: '2.0', method: 'notifications/progress', params }, value };
}

/** 2025-11-25 only, and only for a session that asked for logs. What a tool reports has level `info`. */
export function logMessage(level: LogLevel | undefined, record: TaskRecord): object | undefined {
  if (level === undefined || record.statusMessage === undefined) return undefined;
  if (LOG_LEVELS.indexOf('info') < LOG_LEVELS.indexOf(level)) return undefined;
  const params = { level: 'info', logger: record.tool, data: record.statusMessage };
  return { jsonrpc: '2.0', method: 'notifications/message', params };
}
