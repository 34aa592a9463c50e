import { InvalidParams, MissingClientCapability } from '../../tasks/errors.ts';
import { taskKey } from '../../tasks/ids.ts';
import { limits } from '../../tasks/limits.ts';
import type { TaskKey } from '../../tasks/record.ts';
import { isTerminal } from '../../tasks/transitions.ts';
import { isObject, resultMessage } from '../jsonrpc.ts';
import { logUnexpected } from '../log.ts';
import type { Call, Method, Server } from '../server.ts';
import { EventStream, KEEP_ALIVE, messageFrame } from '../stream/sse.ts';
import { present, view } from '../task-view.ts';
import { TASKS_EXTENSION } from '../versions.ts';
import { acknowledged, listenEnded, taskNotification } from '../wire/2026-07-28.ts';

const PACE = 1_000;
const QUIET = 15_000;

/** 2026-07-28 only: tasks tell when they change, for as long as one stream is held (D-29 to D-31, E-24 to E-27). */
export const subscriptionsListen: Method = async (call, server) => {
  const { notifications } = call.params;
  if (!isObject(notifications)) throw new InvalidParams('notifications must be an object');
  const { taskIds } = notifications;
  if (taskIds === undefined) return new EventStream(listen(call, [], false, server));
  if (!call.tasks) throw new MissingClientCapability({ extensions: { [TASKS_EXTENSION]: {} } });
  if (!Array.isArray(taskIds) || taskIds.length > limits.listenTasks) {
    throw new InvalidParams(`notifications.taskIds is an array of ${limits.listenTasks} ids at most`);
  }
  const keys = [...new Set(taskIds)].flatMap((id) => taskKey(call.principal, id) ?? []);
  return new EventStream(listen(call, keys, true, server));
};

async function* listen(call: Call, keys: readonly TaskKey[], asked: boolean, server: Server): AsyncGenerator<string> {
  const until = server.now() + server.manifest.holdCap;
  const sent = new Map<string, string>();
  let open: readonly TaskKey[] = keys;
  let quietSince = server.now();
  try {
    for (let first = true; ; first = false) {
      const records = open.length === 0 ? [] : await server.store.getMany(open);
      const now = server.now();
      const seen = records.flatMap((record) => present(record, server) ?? []);
      // Unknown and foreign ids are left out of the acknowledgement (E-25), which comes before all else (D-29).
      if (first) {
        open = seen;
        yield messageFrame(acknowledged(call.id, asked ? seen.map(({ taskId }) => taskId) : undefined));
      }
      for (const record of seen) {
        const state = `${record.status} ${record.updatedAt}`;
        if (sent.get(record.taskId) === state) continue;
        sent.set(record.taskId, state);
        yield messageFrame(taskNotification(call.id, view(record, server)));
        quietSince = now;
      }
      open = open.filter(({ taskId }) => !seen.some((record) => record.taskId === taskId && isTerminal(record.status)));
      if (now >= until || (keys.length > 0 && open.length === 0)) break;
      if (now - quietSince >= QUIET) {
        quietSince = now;
        yield KEEP_ALIVE;
      }
      await server.sleep(Math.min(PACE, until - now));
    }
  } catch (error) {
    logUnexpected(error, call.method);
  }
  yield messageFrame(resultMessage(call.id, listenEnded(call.id, server.manifest.serverInfo)));
}
