import { withQuestions } from '../../engine/read.ts';
import { startIfCrashed } from '../../engine/start-round.ts';
import { asOf } from '../../tasks/deadlines.ts';
import { InvalidParams, MissingClientCapability, TooManyStreams } from '../../tasks/errors.ts';
import { taskKey } from '../../tasks/ids.ts';
import { limits } from '../../tasks/limits.ts';
import { logUnexpected } from '../../tasks/log.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { isObject } from '../../tasks/shape.ts';
import { isTerminal } from '../../tasks/transitions/change.ts';
import type { Call, Method, ServerContext } from '../context.ts';
import { EventStream, messageFrame } from '../http/sse.ts';
import { checkScopes } from '../identity/tool-scopes.ts';
import { TASKS_CAPABILITY } from '../protocol/capabilities.ts';
import { resultMessage } from '../protocol/jsonrpc.ts';
import { withMachineState } from '../read/machine-states.ts';
import { auditMissing, currentRecord, view } from '../read/read.ts';
import { withResult } from '../read/results.ts';
import { closing, openStream } from '../stream/count.ts';
import { waitBefore } from '../stream/pace.ts';
import { liesInS3, storedFrames } from '../stream/stored-frames.ts';
import { acknowledged, listenEnded, taskNotification } from '../wire/2026-07-28.ts';

/** How long one read waits for objects of S3, in ms: what comes later is sent after the next read. */
const PATIENCE = 1_000;

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
    const shown = taskIds === undefined ? [] : await visibleTasks(taskIds, call, server);
    const requested = taskIds?.length;
    return new EventStream((gone) => closing(listen(call, shown, requested, server, gone), close));
  } catch (error) {
    await close();
    throw error;
  }
};

/** The tasks that this caller may see. Throws in an outage: the first message of the stream names them. */
async function visibleTasks(taskIds: readonly unknown[], call: Call, server: ServerContext): Promise<TaskRecord[]> {
  const keys = [...new Set(taskIds)].flatMap((id) => taskKey(call.principal, id) ?? []);
  const readAt = server.now();
  const stored = keys.length === 0 ? [] : await server.store.getMany(keys);
  // The rest of the reports comes with the next read.
  const most = 2 * (limits.listenUnits - keys.length);
  const found = [...(await server.store.withReports(stored.slice(0, most))), ...stored.slice(most)];
  const missing = keys.filter(({ taskId }) => !found.some((record) => record.taskId === taskId));
  if (missing.length > 0) auditMissing(call.principal, missing, server);
  // Only once: checking a hundred results against a slow schema takes seconds.
  const shown = found.flatMap((record) => currentRecord(record, readAt, server) ?? []);
  for (const record of shown) checkScopes(call.principal, record, server);
  await startIfCrashed(found, server);
  return shown;
}

type Sent = Pick<TaskRecord, 'status' | 'round' | 'updatedAt'>;

/** How far a task is: its round, then what it does in it. Its times may be those of a tool whose clock is wrong. */
const stageOf = ({ status, round }: Sent): number =>
  isTerminal(status) ? Number.POSITIVE_INFINITY : 2 * round + (status === 'input_required' ? 1 : 0);

/**
 * Whether a record tells more than what was sent of it last. A read may be late, a report missing, and what was read earlier
 * is made into a frame only now.
 */
function isLater(record: TaskRecord, last: Sent | undefined): boolean {
  if (last === undefined || stageOf(record) > stageOf(last)) return true;
  return stageOf(record) === stageOf(last) && record.updatedAt > last.updatedAt;
}

/** Open tasks as they are now: half a unit each, as much for each report. A deadline decides only after a consistent read. */
async function readAgain(open: readonly TaskRecord[], server: ServerContext): Promise<TaskRecord[]> {
  const readAt = server.now();
  const late = open.length === 0 ? [] : await server.store.readMany(open);
  const lapsed = late.filter((record) => asOf(record, readAt)?.status !== record.status);
  const sure = lapsed.length === 0 ? [] : await server.store.getMany(lapsed);
  const records = [...late.filter((record) => !lapsed.includes(record)), ...sure];
  return records.flatMap((record) => currentRecord(record, readAt, server) ?? []);
}

/**
 * `shown`: the requested tasks, without unknown and foreign ones (E-25). `requested`: how many the client named; undefined
 * if it asked for no tasks.
 */
async function* listen(
  call: Call,
  shown: readonly TaskRecord[],
  requested: number | undefined,
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
  const quiet = { since: server.now() };
  let room: number = limits.listenBytes;
  const said = (record: TaskRecord, frame: string): string => {
    sent.set(record.taskId, record);
    quiet.since = server.now();
    room -= Buffer.byteLength(frame);
    return frame;
  };
  const hasRoom = (frame: string): boolean => room === limits.listenBytes || Buffer.byteLength(frame) <= room;
  try {
    yield messageFrame(acknowledged(call.id, requested === undefined ? undefined : open.map(({ taskId }) => taskId)));
    listening: for (;;) {
      const seen = await Promise.all(visible.map((record) => withMachineState(record, server)));
      const news = seen.filter((task) => isLater(task, sent.get(task.taskId)));
      // A frame that cannot be made now is made after a later read.
      for (const record of news.filter((task) => !liesInS3(task))) {
        const frame = await frameOf(record);
        if (frame === undefined) continue;
        if (!hasRoom(frame)) break listening;
        yield said(record, frame);
      }
      for await (const { record, frame } of stored.of(news.filter(liesInS3), () => server.sleep(PATIENCE))) {
        // The task may have gone on meanwhile, and told so.
        if (!isLater(record, sent.get(record.taskId))) continue;
        if (!hasRoom(frame)) break listening;
        yield said(record, frame);
      }
      const over = seen.filter((task) => isTerminal(task.status) && !isLater(task, sent.get(task.taskId)));
      open = open.filter(({ taskId }) => !over.some((task) => task.taskId === taskId));
      if (server.now() >= until || (requested !== undefined && requested > 0 && open.length === 0)) break;
      const working = seen.filter(({ status }) => status === 'working');
      yield* waitBefore((open.length + working.length) / 2, until, quiet, server, gone);
      if (gone.aborted) return;
      visible = (await readAgain(open, server).catch(failed)) ?? [];
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
