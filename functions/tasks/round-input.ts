import { answersByName, requestState } from './input.ts';
import { limits } from './limits.ts';
import type { TaskKey, TaskRecord } from './record.ts';
import { parsed } from './shape.ts';
import type { Signal } from './tool-contract.ts';
import { signalsOf } from './waits/signals.ts';

/** The input of a tool workflow: `$states.context.Execution.Input` in `lib/workflow`. */
export interface RoundInput extends TaskKey {
  readonly tool: string;
  readonly round: number;
  readonly deadlineAt: number;
  /** JSON text: JSONata's own $string would round its numbers to 15 digits. */
  readonly arguments: string;
  /** False: the record has them already, perhaps in S3, when the round asks or waits. @default true */
  readonly keepArguments?: false;
  readonly accepts: readonly string[];
  readonly inputResponses: Readonly<Record<string, unknown>>;
  readonly requestState: unknown;
  readonly traceparent?: string;
  /** A run on another engine may have worked on this round before. @default none has */
  readonly hasPast?: true;
  /** Makes the URLs of links and webhooks secret. Left out of a task that began in an older release. */
  readonly hookKey?: string;
  /** As in the event of the tool. @default none */
  readonly caller?: unknown;
  /** As in the event of the tool. @default none */
  readonly signals?: Readonly<Record<string, Signal>>;
}

/**
 * The input of the current round of a whole record. Undefined when it is too large for Step Functions. `args` is the
 * JSON text of the tool's arguments; `keepArguments` as in RoundInput.
 */
export function roundInput(record: TaskRecord, args: string, keepArguments = true): string | undefined {
  const signals = signalsOf(record);
  const input: RoundInput = {
    owner: record.owner,
    taskId: record.taskId,
    tool: record.tool,
    round: record.round,
    deadlineAt: record.deadlineAt,
    arguments: args,
    ...(!keepArguments && { keepArguments }),
    accepts: record.accepts ?? [],
    inputResponses: answersByName(record),
    requestState: requestState(record),
    ...(record.traceparent !== undefined && { traceparent: record.traceparent }),
    // A record names this engine only after its tool has left another one.
    ...(record.engine === 'standard' && { hasPast: true }),
    ...(record.hookKey !== undefined && { hookKey: record.hookKey }),
    ...(record.caller !== undefined && { caller: parsed(record.caller) }),
    ...(signals && { signals }),
  };
  const text = JSON.stringify(input);
  return Buffer.byteLength(text) <= limits.executionInput ? text : undefined;
}

/** Bytes that a run gives its function besides its input, such as the names of the table and the bucket. */
const BESIDE = 2_000;

/** Whether a new input is small enough for the run, too. @param free more bytes that stay free */
export const hasRoom = (input: string | undefined, free = 0): input is string =>
  input !== undefined && Buffer.byteLength(input) + BESIDE + free <= limits.executionInput;
