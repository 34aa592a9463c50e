import { InternalError, InvalidParams } from '../../tasks/errors.ts';
import { outstanding } from '../../tasks/input.ts';
import { limits } from '../../tasks/limits.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { answer } from '../../tasks/transitions.ts';
import { roundInput } from '../../tasks/workflow.ts';
import { isObject } from '../jsonrpc.ts';
import type { Call, Method, Server } from '../server.ts';
import { loadTask } from '../task-view.ts';

/** More racing writers than this on one task, and the client may try again. */
const ATTEMPTS = 10;

/** 2026-07-28 only: answers to outstanding questions; all other keys are ignored (E-17 to E-19). */
export const tasksUpdate: Method = async (call, server) => {
  const { inputResponses } = call.params;
  if (!isObject(inputResponses)) throw new InvalidParams('inputResponses must be an object');
  if (Buffer.byteLength(JSON.stringify(inputResponses)) > limits.inputResponses) {
    throw new InvalidParams(`inputResponses may take ${limits.inputResponses} bytes at most`);
  }
  await answerTask(call, server, inputResponses);
  return call.wire.result({});
};

/** First answer wins (F-09). A lost race is decided again on what the record has become. */
async function answerTask(call: Call, server: Server, responses: Record<string, unknown>): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const record = await loadTask(call, server);
    // Answered, but perhaps not restarted: a repeated update repairs that, and starting a round twice starts it once.
    if (record.status === 'working' && record.round > 1) return restart(record, server);
    const open = outstanding(record);
    const answers = pick(responses, Object.keys(open));
    if (Object.keys(answers).length === 0) return;
    const changed = await server.store.apply(record, answer(record, Object.keys(open), answers, server.now()));
    if (changed?.status === 'working') return restart(changed, server);
    if (changed !== undefined) return;
  }
  throw new InternalError('The task is changing too fast: try again');
}

function pick(responses: Record<string, unknown>, keys: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const key of keys) {
    if (!Object.hasOwn(responses, key)) continue;
    if (!isObject(responses[key])) throw new InvalidParams(`inputResponses['${key}'] must be an object`);
    picked[key] = JSON.stringify(responses[key]);
  }
  return picked;
}

async function restart(record: TaskRecord, server: Server): Promise<void> {
  const machine = server.tools.get(record.tool)?.entry.machine;
  if (machine === undefined || record.arguments === undefined) throw new InternalError('The tool of this task is gone');
  await server.workflow.start(record, machine, roundInput(record, record.arguments));
}
