import { withQuestions } from '../../engine/read.ts';
import { startIfCrashed } from '../../engine/start-round.ts';
import { InvalidParams, MissingClientCapability, TooManyStreams } from '../../tasks/errors.ts';
import { taskKey } from '../../tasks/ids.ts';
import { limits } from '../../tasks/limits.ts';
import { logUnexpected } from '../../tasks/log.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { isObject } from '../../tasks/shape.ts';
import { isTerminal } from '../../tasks/transitions/change.ts';
import type { Call, Method, ServerContext } from '../context.ts';
import { EventStream, KEEP_ALIVE, messageFrame, QUIET } from '../http/sse.ts';
import { checkScopes } from '../identity/tool-scopes.ts';
import { TASKS_CAPABILITY } from '../protocol/capabilities.ts';
import { resultMessage } from '../protocol/jsonrpc.ts';
import { closing, openStream } from '../stream/count.ts';
import { type AddReports, reportsInTurn } from '../stream/reports-in-turn.ts';
import { liesInS3, storedFrames } from '../stream/stored-frames.ts';
import { withMachineState } from '../task/machine-progress.ts';
import { withResult } from '../task/stored-result.ts';
import { auditMissing, currentRecord, view } from '../task/task-view.ts';
import { acknowledged, listenEnded, taskNotification } from '../wire/2026-07-28.ts';

const PACE = 1_000;

/** 2026-07-28 only: reports changes of tasks on a stream, at most `holdCap` (D-29 to D-31, E-24 to E-27). */
export const subscriptionsListen: Method = async (call, server) => {
  const { notifications } = call.params;
  if (!isObject(notifications)) throw new InvalidParams('notifications must be an object');
  const { taskIds } = notifications;
  if (taskIds !== undefined) {
    if (!call.tasks) throw new MissingClientCapability('taskIds are for clients that know tasks', TASKS_CAPABILITY);
    if (!Array.isArray(taskIds) || taskIds.length > limits.listenTasks) {
      throw new InvalidParams(`notifications.taskIds is an array of ${limits.listenTasks} ids at most`);
    }
  }
  // Before any read: a stream too many must cost nothing. One that ends at once is open for no time.
  server.pollLimit.countList(call.principal);
  const close = await openStream(call.principal, server);
  if (close === undefined) throw new TooManyStreams(server.manifest.maxStreams);
  try {
    const addReports = reportsInTurn(server.store);
    const shown = taskIds === undefined ? [] : await visibleTasks(taskIds, addReports, call, server);
    const requested = taskIds?.length;
    return new EventStream((gone) => closing(listen(call, shown, requested, addReports, server, gone), close));
  } catch (error) {
    await close();
    throw error;
  }
};

/** The tasks that this caller may see. Throws in an outage: the first message of the stream names them. */
async function visibleTasks(
  taskIds: readonly unknown[],
  addReports: AddReports,
  call: Call,
  server: ServerContext,
): Promise<TaskRecord[]> {
  const keys = [...new Set(taskIds)].flatMap((id) => taskKey(call.principal, id) ?? []);
  const readAt = server.now();
  const found = keys.length === 0 ? [] : await addReports(await server.store.getMany(keys), keys.length);
  const missing = keys.filter(({ taskId }) => !found.some((record) => record.taskId === taskId));
  if (missing.length > 0) auditMissing(call.principal, missing, server);
  // Only once: checking a hundred results against a slow schema takes seconds.
  const shown = found.flatMap((record) => currentRecord(record, readAt, server) ?? []);
  for (const record of shown) checkScopes(call.principal, record, server);
  await startIfCrashed(found, server);
  return shown;
}

type Sent = Pick<TaskRecord, 'status' | 'round' | 'updatedAt'>;
/** A report may be read late, or not this time, so an older record is no news. */
const isNews = (record: TaskRecord, last: Sent | undefined): boolean =>
  last?.status !== record.status || last.round !== record.round || record.updatedAt > last.updatedAt;

/** How far a task is: its round, then what it does in it. Its times may be those of a tool whose clock is wrong. */
const stageOf = ({ status, round }: Sent): number =>
  isTerminal(status) ? Number.POSITIVE_INFINITY : 2 * round + (status === 'input_required' ? 1 : 0);

/** Whether a record that was read earlier, and made into a frame only now, is not older than what was sent since. */
function isLater(record: TaskRecord, last: Sent | undefined): boolean {
  if (last === undefined || stageOf(record) > stageOf(last)) return true;
  return stageOf(record) === stageOf(last) && record.updatedAt > last.updatedAt;
}

/**
 * `shown`: the requested tasks, without unknown and foreign ones (E-25). `requested`: how many the client named; undefined
 * if it asked for no tasks.
 */
async function* listen(
  call: Call,
  shown: readonly TaskRecord[],
  requested: number | undefined,
  addReports: AddReports,
  server: ServerContext,
  gone: AbortSignal,
): AsyncGenerator<string> {
  const until = server.now() + server.manifest.holdCap;
  const failed = (error: unknown): undefined => {
    logUnexpected(error, call.method);
  };
  const frameOf = (record: TaskRecord) => taskFrame(record, call, server).catch(failed);
  const stored = storedFrames(frameOf);
  const sent = new Map<string, Sent>();
  let open = shown;
  let visible = shown;
  let quietSince = server.now();
  let room: number = limits.listenBytes;
  const said = (record: TaskRecord, frame: string): string => {
    sent.set(record.taskId, record);
    quietSince = server.now();
    room -= Buffer.byteLength(frame);
    return frame;
  };
  const hasRoom = (frame: string): boolean => room === limits.listenBytes || Buffer.byteLength(frame) <= room;
  try {
    yield messageFrame(acknowledged(call.id, requested === undefined ? undefined : open.map(({ taskId }) => taskId)));
    listening: for (;;) {
      const seen = await Promise.all(visible.map((record) => withMachineState(record, server)));
      const news = seen.filter((task) => isNews(task, sent.get(task.taskId)));
      // A frame that cannot be made now is made after a later read.
      for (const record of news.filter((task) => !liesInS3(task))) {
        const frame = await frameOf(record);
        if (frame === undefined) continue;
        if (!hasRoom(frame)) break listening;
        yield said(record, frame);
      }
      for await (const { record, frame } of stored.of(news.filter(liesInS3), () => server.sleep(PACE))) {
        // The task may have gone on meanwhile, and told so.
        if (!isLater(record, sent.get(record.taskId))) continue;
        if (!hasRoom(frame)) break listening;
        yield said(record, frame);
      }
      const over = seen.filter((task) => isTerminal(task.status) && !isNews(task, sent.get(task.taskId)));
      open = open.filter(({ taskId }) => !over.some((task) => task.taskId === taskId));
      const now = server.now();
      if (now >= until || (requested !== undefined && requested > 0 && open.length === 0)) break;
      if (now - quietSince >= QUIET) {
        quietSince = now;
        yield KEEP_ALIVE;
      }
      await server.sleep(Math.min(PACE, until - now));
      if (gone.aborted) return;
      const readAt = server.now();
      const found = open.length === 0 ? [] : ((await server.store.getMany(open).catch(failed)) ?? []);
      const records = await addReports(found, open.length);
      visible = records.flatMap((record) => currentRecord(record, readAt, server) ?? []);
    }
    yield messageFrame(resultMessage(call.id, listenEnded(call.id, server.manifest.serverInfo)));
  } finally {
    await stored.settled();
  }
}

async function taskFrame(record: TaskRecord, call: Call, server: ServerContext): Promise<string> {
  return messageFrame(
    taskNotification(call.id, view(await withResult(await withQuestions(record, server), server), server)),
  );
}
