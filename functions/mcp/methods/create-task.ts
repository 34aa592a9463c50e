import { storeInput, wholeInput } from '../../engine/read.ts';
import { repeatFirst, startFirst } from '../../engine/start-round.ts';
import { InternalError, InvalidParams, TooManyRefused, TooManyStarts, TooManyTasks } from '../../tasks/errors.ts';
import { FAILURES, failure } from '../../tasks/failures.ts';
import { listPartition, newHookKey, newTaskKey } from '../../tasks/ids.ts';
import { wireKey } from '../../tasks/input.ts';
import { limits } from '../../tasks/limits.ts';
import { logUnexpected } from '../../tasks/log.ts';
import { undeclaredKinds } from '../../tasks/questions/question.ts';
import { isTooLarge } from '../../tasks/questions/question-problem.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { hasRoom, roundInput } from '../../tasks/round-input.ts';
import { type Apart, apart, withInput, withKept, workflowKeeps } from '../../tasks/s3/moved-input.ts';
import { beginning, isObject } from '../../tasks/shape.ts';
import { askFirst, create, createRefused } from '../../tasks/transitions/begin.ts';
import { after, type Change } from '../../tasks/transitions/change.ts';
import { fail } from '../../tasks/transitions/end.ts';
import type { Call, ServerContext } from '../context.ts';
import { isRepeatable, type ToolEntry } from '../manifest.ts';
import { optionsOf } from '../protocol/call-params.ts';
import { countLarge, currentRecord, view } from '../read/read.ts';
import { errorResult } from '../wire/tool-result.ts';

/** Bytes of an error result as JSON, without its text. */
const ROOM_OF_RESULT = 100;

/** Answers given before the task was created, by the tool's names for its questions. */
export type FirstAnswers = Readonly<Record<string, unknown>>;

/**
 * Answers a call that asks for a task. The task is stored before the answer (C-12, E-09). The answer says `working`
 * (C-09, X-12), even if a repeated call finds the task in a later status.
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

/**
 * Answers a call that asks for a task with invalid arguments: with a task that has already failed (A-14, C-07). Throws
 * TooManyRefused.
 */
export async function createRefusedTask(call: Call, server: ServerContext, tool: ToolEntry, problem: string) {
  // Its record is as small as any other.
  const shown = errorResult(beginning(problem, problem.length, limits.result.inline - ROOM_OF_RESULT));
  const refused = createRefused(newRecord(call, server, tool), JSON.stringify(shown));
  const record = await storeRecord({ record: refused }, call, server, problem);
  return call.wire.taskCreated(view({ ...record, status: 'working' }, server), immediateResponse(tool, record));
}

/**
 * Stores the record, then starts its first round: the tool's run, or its questions if it asks first and has no answers
 * yet. A call that repeats another one under its idempotency key gets the task of that call.
 */
export async function startTask(
  call: Call,
  server: ServerContext,
  tool: ToolEntry,
  args: string,
  first?: FirstAnswers,
): Promise<TaskRecord> {
  const made = withKept(newRecord(call, server, tool, first), tool.keepArguments, args);
  // One write with the questions: a crash between two would leave a task that could start without its answers.
  const change = beforeStart(made, tool, args);
  const start = change === undefined ? withInput(made, args) : apart(after(made, change));
  const stored = start.record;
  const input = roundInput(made, args, start.keeps);
  if (!hasRoom(input)) {
    throw new InvalidParams('arguments are too large once they are escaped: a task carries 256 KiB at most');
  }
  const refusal = stored.status === 'failed' ? FAILURES.InputNotSupported.message : undefined;
  const record = await storeRecord(start, call, server, refusal);
  const fresh = record === stored;
  if (record.status !== 'working' || record.round > 1) return record;
  // By the record, not by this call: a client of the other revision, which is asked differently, may share the key.
  const whole = fresh ? made : await wholeInput(record, server);
  // Questions are open if the tool asks first only since a deployment: the sweep fails that task.
  if (whole.status !== 'working' || openQuestions(whole, tool).length > 0) return whole;
  // Also for a repeat: the first call may have crashed before the start.
  if (fresh) await startRound(record, input, server);
  else await repeatRound(record, roundInput(whole, args, workflowKeeps(record)) ?? input, server);
  return record;
}

/** What a new record says instead of `working`: its questions, or that its client cannot answer them. */
function beforeStart(made: TaskRecord, tool: ToolEntry, args: string): Change | undefined {
  const asked = JSON.stringify({ inputRequests: tool.askFirst });
  if (tool.askFirst !== undefined && isTooLarge({ ...made, asked, arguments: args })) {
    throw new InvalidParams(
      `arguments are too large: this tool asks first, and both take ${limits.asked} bytes at most`,
    );
  }
  const open = openQuestions(made, tool);
  if (open.length === 0) return undefined;
  const { accepts, createdAt } = made;
  const asks = open.map(([, question]) => question);
  const kinds = undeclaredKinds(asks, accepts);
  if (kinds.length === 0) return askFirst(made, asked, args, createdAt);
  return fail(failure('InputNotSupported', { kinds }), createdAt);
}

const openQuestions = ({ inputResponses: given = {} }: TaskRecord, { askFirst: questions = {} }: ToolEntry) =>
  Object.entries(questions).filter(([name]) => !Object.hasOwn(given, wireKey(0, name)));

/** Throws the error of a task that does not run. */
async function startRound(record: TaskRecord, input: string, server: ServerContext): Promise<void> {
  const first = await startFirst(record, input, server);
  if (first.start === 'failed') throw notStarted(first.error, record, server);
  if (first.start === 'taken') throw new InvalidParams(FAILURES.KeyExpired.message);
}

async function repeatRound(record: TaskRecord, input: string, server: ServerContext): Promise<void> {
  await repeatFirst(record, input, server).catch((error: unknown) => {
    logUnexpected(error, 'repeated call');
    throw notStarted(error, record, server);
  });
}

function notStarted(error: unknown, { digest, tool }: TaskRecord, { tools }: ServerContext): Error {
  if (error instanceof TooManyStarts) {
    // Many clients repeat a request by themselves after HTTP 429, and this one may have started its tool.
    const entry = tools.get(tool)?.entry;
    if (error.certain || digest !== undefined || (entry !== undefined && isRepeatable(entry))) return error;
  }
  return new InternalError('The task could not be started: try again later', undefined, error);
}

function newRecord(call: Call, server: ServerContext, tool: ToolEntry, first: FirstAnswers = {}): TaskRecord {
  const { params, accepts, principal, wire } = call;
  const requested = wire.taskByParam && isObject(params.task) ? params.task.ttl : undefined;
  const ttl = requested ?? tool.ttl ?? limits.ttl.default;
  if (typeof ttl !== 'number' || !Number.isFinite(ttl) || ttl < 0)
    throw new InvalidParams('task.ttl is a number of ms');
  const now = server.now();
  const { idempotencyKey, ...options } = optionsOf(call);
  const task = {
    tool: tool.name,
    ttl: Math.round(Math.min(ttl, server.manifest.maxTtl)),
    timeout: Math.min(tool.timeout, server.manifest.maxTtl),
    accepts,
    engine: tool.engine,
    ...wire.marks,
    ...options,
    outputSchemaId: tool.outputSchemaId,
    scopes: tool.scopes,
    hookKey: newHookKey(),
    caller: principal.kind === 'verified' ? principal.shown : undefined,
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
 * Counts a new task of the caller, or throws. Only the tasks of a caller that has a list are counted: others cannot be
 * distinguished. A task that ends at its creation takes no slot: it counts as a refused one, as nothing else bounds how many there are.
 */
async function admit(record: TaskRecord, call: Call, server: ServerContext, refusal?: string): Promise<void> {
  const owner = listPartition(call.principal);
  if (owner === undefined) return;
  const now = server.now();
  if (refusal !== undefined) {
    const { most, within } = limits.refusedTasks;
    if (await server.store.countRefused(owner, most, now, within)) return;
    throw new TooManyRefused(refusal, most);
  }
  const { maxOpenTasks, maxTtl } = server.manifest;
  // The slots outlive the longest task.
  const expiresAt = Math.ceil((now + maxTtl + limits.retention) / 1_000);
  const maySearch = () => server.pollLimit.mayReadMany(call.principal, server);
  if (await server.store.takeSlot(record, maxOpenTasks, now, expiresAt, maySearch, server.sleep)) return;
  throw new TooManyTasks(maxOpenTasks);
}

/**
 * Stores a record and returns it, or the record that exists under its key.
 *
 * @param refusal why the task has ended, if it ends at its creation
 */
async function storeRecord(
  { record, text }: Pick<Apart, 'record' | 'text'>,
  call: Call,
  server: ServerContext,
  refusal?: string,
): Promise<TaskRecord> {
  let readAt = server.now();
  // A repeat uses the slot of the first call.
  const before = record.digest === undefined ? undefined : await server.store.get(record);
  if (before === undefined) {
    await admit(record, call, server, refusal);
    // If the call crashes after this, no record refers to the object, and it expires.
    if (text !== undefined) await storeInput(record, text, server);
    if (await server.store.create(record)) return record;
    readAt = server.now();
  }
  const existing = before ?? (await server.store.get(record));
  if (existing === undefined) throw new InternalError();
  // It is this one: the SDK has repeated the put, whose answer was lost.
  if (existing.hookKey === record.hookKey) return record;
  server.audit('repeated', { owner: record.owner, taskId: record.taskId, tool: record.tool });
  // A plain call that is repeated gets its result from S3 each time.
  server.pollLimit.countShown(record);
  await countLarge(call.principal, existing, server);
  if (existing.digest !== record.digest) {
    throw new InvalidParams('This idempotency key was used for another call: tool and arguments must be the same');
  }
  const shown = currentRecord(existing, readAt, server);
  if (shown === undefined) throw new InvalidParams(FAILURES.KeyExpired.message);
  return shown;
}
