import { isObject } from '../tasks/shape.ts';
import type { Envelope, ToolEvent, ToolReturn } from '../tasks/tool-contract.ts';
import { type Clock, clockOf, type LambdaContext, spareOf } from './clock.ts';
import { createTask } from './create-task.ts';
import { enveloped } from './envelope.ts';
import { ResultMisfit, TaskEnded, ToolError } from './errors.ts';
import { noFiles } from './files/port.ts';
import { type Journal, openJournal } from './journal/journal.ts';
import { callJournal, memoryJournal } from './journal/port.ts';
import { withLogIds } from './log-ids.ts';
import type { RunContext } from './run-context.ts';
import {
  type ArgumentsOf,
  type InputOf,
  type InputSchema,
  isStandardSchema,
  type OutputSchema,
  parsedBy,
  type ReturnOf,
  registrationOf,
  type TaskSupport,
  type ToolDefinition,
  type ToolRegistration,
} from './schema.ts';
import type { Task } from './task.ts';
import { EndedRound } from './waits/ended-round.ts';
import { passLog } from './waits/passes.ts';
import { type Ending, openEnding, RoundEnd } from './waits/round-end.ts';
import { canWait } from './waits/waits.ts';

/** How often a run checks whether its task was cancelled, in milliseconds. */
const HEARTBEAT = 1_000;

/** A Lambda handler that keeps the tool contract. */
export interface DefinedTool<Input = unknown, Support = TaskSupport> {
  (event: ToolEvent, context?: LambdaContext): Promise<ToolReturn | Envelope>;
  /** What `addToolFile` reads: the options for `addTool`, without the function. */
  readonly definition: ToolRegistration<Support>;
  /** Runs the handler with another context, and perhaps another clock, for tests. */
  readonly runWith: (event: ToolEvent, context: RunContext, clock?: Clock) => Promise<ToolReturn | EndedRound>;
  /** Never set: carries the type only. */
  readonly input?: Input;
}

/**
 * Makes a handler from a tool in TypeScript. The schemas of its definition type arguments and result. The same handler
 * serves direct calls and tasks.
 *
 * @example
 * const definition = { description: 'Counts words', inputSchema: { type: 'object', … } } as const;
 * export const handler = defineTool(definition, async ({ text }, task) => {
 *   await task.progress('Counting');
 *   return { words: text.split(' ').length };
 * });
 */
export function defineTool<
  const I extends InputSchema,
  const O extends OutputSchema = undefined,
  const S extends TaskSupport = never,
>(
  definition: ToolDefinition<I, O, S>,
  run: (args: ArgumentsOf<I>, task: Task) => ReturnOf<O> | Promise<ReturnOf<O>>,
): DefinedTool<InputOf<I>, S> {
  const runWith = (event: ToolEvent, context: RunContext, clock = clockOf()) =>
    runRound(definition, run as Run, event, { context, clock });
  const handler = (event: ToolEvent, lambda?: LambdaContext) =>
    withLogIds(event, async () => enveloped(event, await runWith(event, await contextOf(event), clockOf(lambda))));
  // This is a getter, as only synth reads it.
  const registration = { get: () => registrationOf(definition) };
  return Object.defineProperty(Object.assign(handler, { runWith }), 'definition', registration) as DefinedTool<
    InputOf<I>,
    S
  >;
}

type Run = (args: unknown, task: Task) => unknown;

/** The context of a direct call, which has no record, and does not load the SDK. */
const directRunContext: RunContext = {
  progress: async () => true,
  alive: async () => true,
  journal: memoryJournal(),
  files: noFiles,
  keep: async (_task, result) => result,
};

/**
 * Without an envelope, a state machine calls the function, perhaps as one of several: its result goes to the next state, and its steps
 * are not the task's.
 */
async function contextOf({ task }: ToolEvent): Promise<RunContext> {
  if (task === undefined) return directRunContext;
  const { runContext } = await import('./run-context.ts');
  return task.envelope === 1 ? runContext : { ...runContext, journal: callJournal(), keep: directRunContext.keep };
}

async function runRound(
  definition: ToolDefinition,
  run: Run,
  event: ToolEvent,
  { context, clock }: { readonly context: RunContext; readonly clock: Clock },
): Promise<ToolReturn | EndedRound> {
  const abort = new AbortController();
  const stopHeartbeat = heartbeat(event, abort, context);
  const spare = spareOf(clock, event.task);
  const passes = event.task && passLog(() => journal);
  const ending = openEnding(canWait(event) ? spare : () => Number.POSITIVE_INFINITY, passes, event.caller);
  const journal: Journal = openJournal(event, context.journal, ending);
  try {
    // A first try reads at its first step or report, if at all.
    if (event.task !== undefined && event.task.attempt > 0) await journal.read();
    const args = await parse(definition, event.arguments);
    return await orEnd(ending, journal, async () => {
      const returned = await run(
        args,
        createTask(event, {
          journal,
          ending,
          abort,
          context,
          clock,
          spare,
          mayStore: definition.files === true,
        }),
      );
      // The run has caught what ends its round: what it returns is made without an answer.
      if (ending.close()) throw new RoundEnd();
      const result = await checked(definition, returned);
      return (event.task === undefined ? result : await context.keep(event.task, result)) as ToolReturn;
    });
  } catch (error) {
    if (error instanceof ToolError) {
      const result = errorResult(error.message);
      return (event.task === undefined ? result : await context.keep(event.task, result)) as ToolReturn;
    }
    // No reader sees this result: the task has ended, or another round has begun.
    if (error instanceof TaskEnded || abort.signal.aborted) return errorResult('The task was cancelled');
    throw error;
  } finally {
    stopHeartbeat();
  }
}

/** Returns the result of `work`, or what its round ends with, and the state for the next round. */
async function orEnd(
  ending: Ending,
  journal: Journal,
  work: () => Promise<ToolReturn>,
): Promise<ToolReturn | EndedRound> {
  try {
    return await work();
  } catch (error) {
    // A run may have wrapped what ends it to go on in the next round, or another error came with that. There it comes again.
    const ends = error instanceof RoundEnd || (ending.more() && !(error instanceof TaskEnded));
    if (!ends) {
      ending.close(true);
      throw error;
    }
    await journal.settled();
    return new EndedRound(ending.awaited(), journal.requestState());
  }
}

/** Lets a Standard Schema change the arguments (defaults, dates). The endpoint has checked arguments by a JSON Schema. */
async function parse({ inputSchema }: ToolDefinition, args: unknown): Promise<unknown> {
  if (!isStandardSchema(inputSchema)) return args;
  return parsedBy(inputSchema, args, (problems) => new ToolError(`Invalid arguments: ${problems}`));
}

/**
 * Lets a Standard Schema check and change the returned value, or the structured content of a CallToolResult. The endpoint
 * checks a result by a JSON Schema.
 */
async function checked({ outputSchema }: ToolDefinition, returned: unknown): Promise<unknown> {
  if (!isStandardSchema(outputSchema)) return returned;
  const parse = (value: unknown) => parsedBy(outputSchema, value, (problems) => new ResultMisfit(problems));
  if (!isToolResult(returned)) return parse(returned);
  if (returned.isError === true) return returned;
  return { ...returned, structuredContent: await parse(returned.structuredContent) };
}

const BLOCKS = ['text', 'image', 'audio', 'resource', 'resource_link'];

/** Whether a value is a CallToolResult. The endpoint checks more of a block; that code would make each tool 4 KB larger. */
function isToolResult(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false;
  const { content } = value;
  if (content === undefined) return 'structuredContent' in value;
  return Array.isArray(content) && content.every((block) => isObject(block) && BLOCKS.includes(String(block.type)));
}

/** Aborts the run soon after its task was cancelled, even in the middle of work. A failed check counts as alive. */
function heartbeat({ task }: ToolEvent, abort: AbortController, context: RunContext): () => void {
  if (task === undefined) return () => {};
  const timer = setInterval(async () => {
    const alive = await context.alive(task).catch(() => true);
    if (alive) return;
    abort.abort(new TaskEnded());
    clearInterval(timer);
  }, HEARTBEAT);
  timer.unref();
  return () => clearInterval(timer);
}

function errorResult(text: string): ToolReturn {
  return { content: [{ type: 'text', text }], isError: true };
}
