import { InternalError, InvalidParams, TooManyStarts, TooManyTasks } from '../../tasks/errors.ts';
import { listPartition, newTaskKey } from '../../tasks/ids.ts';
import { wireKey } from '../../tasks/input.ts';
import { limits } from '../../tasks/limits.ts';
import { logUnexpected } from '../../tasks/log.ts';
import { kindOf } from '../../tasks/questions/question.ts';
import { isTooLarge } from '../../tasks/questions/question-problem.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { isLarge, moved } from '../../tasks/s3/moved-input.ts';
import type { ToolResult } from '../../tasks/tool-contract.ts';
import { askFirst, create, createRefused, fail, KEY_EXPIRED, keyExpired, withdraw } from '../../tasks/transitions.ts';
import { roundInput } from '../../tasks/workflow.ts';
import type { Call, ServerContext } from '../context.ts';
import { idempotencyKeyOf } from '../identity/idempotency-key.ts';
import { callDigest } from '../identity/request-state.ts';
import type { ToolEntry } from '../manifest.ts';
import { isObject } from '../protocol/jsonrpc.ts';
import { progressTokenOf } from '../stream/held-call.ts';
import { stopIfOver, stopWork } from '../task/cancel-task.ts';
import { storeInput, wholeInput } from '../task/task-input.ts';
import { currentRecord, view } from '../task/task-view.ts';
import { workflowOf } from '../wiring.ts';

/** A client takes so long, in ms, to list its tasks and to cancel one of them. */
const FOUND_AFTER = 250;

/** Answers given before the task was made, by the tool's own names. */
export type FirstAnswers = Readonly<Record<string, unknown>>;

/**
 * The caller asked for a task: durable before it is answered (C-12, E-09), and working at first (C-09, X-12), even if a
 * repeated call finds that it has moved on.
 */
export async function createTask(
  call: Call,
  server: ServerContext,
  tool: ToolEntry,
  args: string,
  first?: FirstAnswers,
) {
  const record = await startTask(call, server, tool, args, first);
  const { statusMessage: _, ...shown } = record;
  return call.wire.taskCreated(view({ ...shown, status: 'working' }, server), immediateResponse(tool, record));
}

/** A task was asked for with arguments the tool refuses: a task that has failed already (A-14, C-07). */
export async function createRefusedTask(call: Call, server: ServerContext, tool: ToolEntry, refused: ToolResult) {
  const record = await put(
    { record: createRefused(newRecord(call, server, tool), JSON.stringify(refused)) },
    server,
    false,
  );
  return call.wire.taskCreated(view({ ...record, status: 'working' }, server), immediateResponse(tool, record));
}

/**
 * The record, then its first round: the tool's run, or its questions if it asks first and nothing was answered yet.
 * A call that repeats another one, by its idempotency key, gets that one's task.
 */
export async function startTask(
  call: Call,
  server: ServerContext,
  tool: ToolEntry,
  args: string,
  first?: FirstAnswers,
): Promise<TaskRecord> {
  const made = newRecord(call, server, tool, first);
  const start = splitRecord(made, args);
  const input = roundInput(made, args, keepsArguments(start.record, args));
  if (input === undefined) {
    throw new InvalidParams('arguments are too large once they are escaped: a task carries 256 KiB at most');
  }
  const asked = JSON.stringify({ inputRequests: tool.askFirst });
  if (tool.askFirst !== undefined && isTooLarge({ ...made, asked, arguments: args })) {
    throw new InvalidParams(
      `arguments are too large: this tool asks first, and both take ${limits.asked} bytes at most`,
    );
  }
  const record = await put(start, server, listPartition(call.principal) !== undefined);
  const fresh = record === start.record;
  if (!fresh && (record.status !== 'working' || record.round > 1)) return record;
  // By the record: another revision's client, which is asked otherwise, may have used the same key.
  const whole = fresh ? made : await wholeInput(record, server);
  if (whole.status !== 'working') return whole;
  const { accepts = [], inputResponses: given = {} } = whole;
  const open = Object.entries(tool.askFirst ?? {}).filter(([name]) => !Object.hasOwn(given, wireKey(0, name)));
  if (open.length > 0) {
    const kinds = open.map(([, question]) => kindOf(question)).filter((kind) => !accepts.includes(kind));
    if (kinds.length > 0) {
      const message = 'The tool needs input of a kind that the client did not declare it can give';
      const error = { code: -32603, message, data: { reason: 'InputNotSupported', kinds } };
      return (await server.store.apply(record, fail(error, server.now()))) ?? record;
    }
    const waiting = await server.store.apply(record, askFirst(record, asked, args, server.now()));
    return waiting ?? record;
  }
  // Later the sweep may be about to find that it was never started: its word counts then (docs/crash-table.md, row 4).
  // And nothing would come of a run that begins after the deadline.
  const now = server.now();
  if (now > record.createdAt + limits.startWithin || now >= record.deadlineAt) return record;
  // Also for a repeat: the call before it may have died before its start, and starting a round twice starts it once.
  if (fresh) await startRound(record, tool, input, server);
  else await startForRepeat(record, tool, roundInput(whole, args, keepsArguments(record, args)) ?? input, server);
  // Who has not been told of a task can cancel it only by its key, or once it was found in a list.
  if (record.digest !== undefined || server.now() - record.createdAt > FOUND_AFTER) {
    await stopIfOver(record, server).catch((error: unknown) => logUnexpected(error, 'over before its start'));
  }
  return record;
}

/** A record as it is stored, and the rest of it, which goes to S3 first. */
interface NewRecord {
  readonly record: TaskRecord;
  readonly rest?: string;
}

function splitRecord(made: TaskRecord, args: string): NewRecord {
  // A record needs its arguments once the tool has asked, and a client that can give no answers is never asked.
  const whole = { ...made, arguments: args };
  if (made.accepts === undefined || !isLarge(whole)) return { record: made };
  const { record, text } = moved(whole);
  return { record, rest: text };
}

/** Whether the workflow is to write the arguments into this record when its tool asks. */
const keepsArguments = (record: TaskRecord, args: string): boolean =>
  record.inputRef === undefined && (record.accepts !== undefined || !isLarge({ arguments: args }));

async function startRound(record: TaskRecord, tool: ToolEntry, input: string, server: ServerContext): Promise<void> {
  let outcome: Awaited<ReturnType<typeof server.workflow.start>>;
  try {
    outcome = await server.workflow.start(record, workflowOf(tool), input);
  } catch (error) {
    console.error(JSON.stringify({ event: 'start_failed', tool: tool.name, error: String((error as Error).name) }));
    // Under a key, a repeat may have started it, and been answered with it, or may do so yet: if none does, the sweep
    // fails it.
    if (record.digest === undefined && error instanceof TooManyStarts && error.certain) {
      await server.store.apply(record, withdraw(record, server.now())).catch((failed: unknown) => {
        logUnexpected(failed, 'withdrawing a task');
      });
    } else if (record.digest === undefined) {
      // It may run all the same, if only the answer was lost: fenced, so that nothing can come of it, and told to stop
      // (docs/crash-table.md, rows 2 and 3).
      const failure = fail({ code: -32603, message: 'The task could not be started' }, server.now());
      const seen = (await server.store.apply(record, failure)) ?? (await server.store.get(record));
      // It ran, and its answer was all that was lost: whoever was told to try again would run it twice.
      if (seen !== undefined && seen.status !== 'cancelled' && seen.error !== failure.set.error) return;
      await stopWork(record, server);
    }
    throw notStarted(error);
  }
  if (outcome !== 'taken' || record.digest === undefined) return;
  if (await server.store.apply(record, keyExpired(record, server.now()))) throw new InvalidParams(KEY_EXPIRED);
}

/** For a repeat: if this fails, the call before it may have started the round all the same, so nothing is fenced. */
async function startForRepeat(
  record: TaskRecord,
  tool: ToolEntry,
  input: string,
  server: ServerContext,
): Promise<void> {
  try {
    await server.workflow.start(record, workflowOf(tool), input);
  } catch (error) {
    logUnexpected(error, 'repeated call');
    throw notStarted(error);
  }
}

const notStarted = (error: unknown): Error =>
  error instanceof TooManyStarts ? error : new InternalError('The task could not be started: try again later');

function newRecord(call: Call, server: ServerContext, tool: ToolEntry, first: FirstAnswers = {}): TaskRecord {
  const { params, accepts, principal, wire } = call;
  const requested = wire.era === 'legacy' && isObject(params.task) ? params.task.ttl : undefined;
  const ttl = requested ?? tool.ttl ?? limits.ttl.default;
  if (typeof ttl !== 'number' || !Number.isFinite(ttl) || ttl < 0)
    throw new InvalidParams('task.ttl is a number of ms');
  const now = server.now();
  const progressToken = progressTokenOf(call);
  const idempotencyKey = idempotencyKeyOf(call);
  const task = {
    tool: tool.name,
    ttl: Math.round(Math.min(ttl, server.manifest.maxTtl)),
    timeout: Math.min(tool.timeout, server.manifest.maxTtl),
    accepts,
    legacy: wire.era === 'legacy',
    ...(progressToken !== undefined && { progressToken }),
    ...(idempotencyKey !== undefined && { digest: callDigest(call) }),
    ...(tool.outputSchemaId !== undefined && { outputSchemaId: tool.outputSchemaId }),
    ...(tool.scopes && { scopes: tool.scopes }),
    inputResponses: Object.fromEntries(
      Object.entries(first).map(([name, value]) => [wireKey(0, name), JSON.stringify(value)]),
    ),
  };
  return create(newTaskKey(principal, now, idempotencyKey), task, now);
}

function immediateResponse(tool: ToolEntry, record: TaskRecord): string {
  return tool.immediateResponse ?? `Tool ${tool.name} is running as task ${record.taskId}. Its result comes later.`;
}

/**
 * The record as it is stored now: this one, or the one that was there under its key. With a random key that is this one,
 * too: the SDK has repeated a put whose answer was lost. `limited`: the caller is one whose open tasks are counted.
 */
async function put({ record, rest }: NewRecord, server: ServerContext, limited: boolean): Promise<TaskRecord> {
  // A repeat needs no second slot.
  const before = record.digest === undefined ? undefined : await server.store.get(record);
  if (before === undefined) {
    const { maxOpenTasks, maxTtl } = server.manifest;
    // The slots outlive the longest task.
    const expiresAt = Math.ceil((server.now() + maxTtl + limits.retention) / 1_000);
    if (limited && !(await server.store.takeSlot(record, maxOpenTasks, server.now(), expiresAt))) {
      throw new TooManyTasks(maxOpenTasks);
    }
    // If the call dies after this, nothing refers to the object, and it expires.
    if (rest !== undefined) await storeInput(record, rest, server);
    if (await server.store.create(record)) return record;
  }
  const existing = before ?? (await server.store.get(record));
  if (existing === undefined) throw new InternalError();
  if (existing.digest !== record.digest) {
    throw new InvalidParams('This idempotency key was used for another call: tool and arguments must be the same');
  }
  const shown = currentRecord(existing, server);
  if (shown === undefined) throw new InvalidParams(KEY_EXPIRED);
  return record.digest === undefined ? record : shown;
}
