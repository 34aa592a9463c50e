import { setImmediate } from 'node:timers/promises';
import { InvalidParams, MissingClientCapability, TooManyStreams } from '../../tasks/errors.ts';
import { limits } from '../../tasks/limits.ts';
import { logUnexpected } from '../../tasks/log.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { isObject } from '../../tasks/shape.ts';
import { isTerminal } from '../../tasks/transitions/change.ts';
import type { Method, ModernCall, ServerContext } from '../context.ts';
import { EventStream, messageFrame } from '../http/sse.ts';
import { processorTime } from '../processor-time.ts';
import { TASKS_CAPABILITY } from '../protocol/capabilities.ts';
import { resultMessage } from '../protocol/jsonrpc.ts';
import { complete, readTasks, readTasksAgain, view } from '../read/read.ts';
import { fetched } from '../read/results.ts';
import { type CloseStream, held, openStream, pauseFor } from '../stream/held.ts';
import { liesInS3, storedBytes, storedFrames } from '../stream/stored-frames.ts';

/** How long one read waits for objects of S3, in ms. A later object is sent after the next read. */
const S3_TIMEOUT = 1_000;

/** 2026-07-28 only: reports changes of tasks on a stream, at most `holdCap` (D-29 to D-31, E-24 to E-27). */
export const subscriptionsListen: Method<ModernCall> = async (call, server) => {
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
  await server.pollLimit.countList(call.principal, server);
  const close = await openStream(call.principal, server);
  if (close === undefined) throw new TooManyStreams(server.manifest.maxStreams);
  try {
    // Throws in an outage: the first message of the stream names the tasks.
    const shown = taskIds === undefined ? [] : await readTasks(call.principal, taskIds, server);
    return new EventStream(listen(call, shown, taskIds?.length, close, server));
  } catch (error) {
    await close();
    throw error;
  }
};

type Sent = Pick<TaskRecord, 'status' | 'round' | 'updatedAt'>;

/** The order of the statuses within a round. */
const STAGES = ['working', 'input_required', 'waiting'];
/** Orders the states of a task without its times, which may come from a wrong clock. */
const stageOf = ({ status, round }: Sent): number =>
  isTerminal(status) ? Number.POSITIVE_INFINITY : STAGES.length * round + STAGES.indexOf(status);

/**
 * Whether a record is newer than what was sent last. A read may be late, a report may be missing, and a frame may be made
 * some time after its read.
 */
function isLater(record: TaskRecord, last: Sent | undefined): boolean {
  if (last === undefined || stageOf(record) > stageOf(last)) return true;
  return stageOf(record) === stageOf(last) && record.updatedAt > last.updatedAt;
}

/**
 * `shown`: the requested tasks, without unknown and foreign ones (E-25). `requested`: how many the client named; undefined
 * if it asked for no tasks.
 */
async function* listen(
  call: ModernCall,
  shown: readonly TaskRecord[],
  requested: number | undefined,
  close: CloseStream,
  server: ServerContext,
): AsyncGenerator<string> {
  const until = server.now() + server.manifest.holdCap;
  const failed = (error: unknown): undefined => {
    logUnexpected(error, call.method);
  };
  const frameOf = (record: TaskRecord) => taskFrame(record, call, server).catch(failed);
  let work = 0;
  const made = (frame: () => string): string | undefined => {
    const before = processorTime();
    try {
      return frame();
    } catch (error) {
      return failed(error);
    } finally {
      work += processorTime() - before;
    }
  };
  const stored = storedFrames(frameOf);
  const sent = new Map<string, Sent>();
  let open = shown;
  let working = 0;
  let room: number = limits.listenBytes;
  const said = (record: TaskRecord, frame: string): string => {
    sent.set(record.taskId, record);
    room -= bytesOf(record, frame);
    return frame;
  };
  // A result that does not fit its schema was fetched, too.
  const bytesOf = (record: TaskRecord, frame: string) => Math.max(Buffer.byteLength(frame), storedBytes(record));
  const hasRoom = (record: TaskRecord, frame: string): boolean =>
    room === limits.listenBytes || bytesOf(record, frame) <= room;
  try {
    yield messageFrame(
      call.wire.acknowledged(call.id, requested === undefined ? undefined : open.map(({ taskId }) => taskId)),
    );
    const read = async (first: boolean) => (first ? shown : ((await readTasksAgain(open, server).catch(failed)) ?? []));
    const pause = () => pauseFor((open.length + working) / 2);
    listening: for await (const visible of held({ until, read, pause }, server)) {
      if (typeof visible === 'string') {
        yield '';
        continue;
      }
      const seen = await Promise.all(visible.map((record) => complete(record, { state: true }, server)));
      const news = seen.filter((task) => isLater(task, sent.get(task.taskId)));
      // A frame that cannot be made now is made after a later read.
      for (const record of news.filter((task) => !liesInS3(task))) {
        const make = await frameOf(record);
        const frame = make && made(make);
        if (frame === undefined) continue;
        if (!hasRoom(record, frame)) break listening;
        yield said(record, frame);
      }
      for await (const { record, frame: make } of stored.of(news.filter(liesInS3), () => server.sleep(S3_TIMEOUT))) {
        // A later state may already have been sent.
        if (!isLater(record, sent.get(record.taskId))) continue;
        if (work > limits.listenWork) break listening;
        // The checks of one turn share their time: this result gets all of it.
        await setImmediate();
        const frame = made(make);
        if (frame === undefined) continue;
        if (!hasRoom(record, frame)) break listening;
        yield said(record, frame);
      }
      const over = seen.filter((task) => isTerminal(task.status) && !isLater(task, sent.get(task.taskId)));
      open = open.filter(({ taskId }) => !over.some((task) => task.taskId === taskId));
      working = seen.filter(({ status }) => status === 'working' || status === 'waiting').length;
      if (requested !== undefined && requested > 0 && open.length === 0) break;
    }
    yield messageFrame(resultMessage(call.id, call.wire.listenEnded(call.id)));
  } finally {
    await stored.settled();
    await close();
  }
}

/** What makes the frame: to check a result may take seconds of the processor, and the stream may end before. */
async function taskFrame(record: TaskRecord, call: ModernCall, server: ServerContext): Promise<() => string> {
  const show = await fetched(await complete(record, { questions: true }, server), server);
  return () => messageFrame(call.wire.taskNotification(call.id, view(show(), server)));
}
