import { AsyncLocalStorage } from 'node:async_hooks';
import { format } from 'node:util';
import type { ToolEvent } from '../tasks/tool-contract.ts';

/** The ids in each line that a tool logs on Lambda. A direct call has only the name of the tool. */
interface LogIds {
  readonly tool: string;
  readonly taskId?: string;
  readonly round?: number;
  readonly attempt?: number;
}

/** The ids of the running event: a container may run many events at once (docs/writing-tools.md, "Logs"). */
const current = new AsyncLocalStorage<LogIds>();

/** Runs a handler so that its lines of `console`, and the error that it throws, name the tool and the task. */
export async function withLogIds<T>({ name, task }: ToolEvent, run: () => Promise<T>): Promise<T> {
  // Outside of Lambda, as in a test, this library must not change the console.
  if (process.env.AWS_LAMBDA_FUNCTION_NAME === undefined) return run();
  patchConsole();
  const ids = { tool: name, ...(task && { taskId: task.taskId, round: task.round, attempt: task.attempt }) };
  try {
    return await current.run(ids, run);
  } catch (error) {
    // The runtime logs the enumerable fields of an error. The caller gets only type, message and stack.
    if (error instanceof Error) {
      for (const [key, value] of Object.entries(ids)) if (!(key in error)) Reflect.set(error, key, value);
    }
    throw error;
  }
}

let patched = false;

function patchConsole(): void {
  if (patched) return;
  patched = true;
  for (const method of ['trace', 'debug', 'info', 'log', 'warn', 'error'] as const) {
    const write = console[method];
    console[method] = (...said: unknown[]) => write(...line(said));
  }
}

/** Makes a line an object. With the log format JSON, Lambda keeps it, so that queries find each id as a field. */
function line(said: unknown[]): unknown[] {
  const ids = current.getStore();
  if (ids === undefined) return said;
  const { tool, taskId, round, attempt } = ids;
  if (process.env.AWS_LAMBDA_LOG_FORMAT === 'JSON') {
    return [{ ...ids, message: said.length === 1 ? said[0] : format(...said) }];
  }
  const task = taskId === undefined ? '' : ` ${taskId} round ${round} attempt ${attempt}`;
  return ['%s', `${tool}${task}: ${format(...said)}`];
}
