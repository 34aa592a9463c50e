import { newKeyBeside } from '../../tasks/ids.ts';
import { wireKey } from '../../tasks/input.ts';
import type { TaskKey, TaskRecord } from '../../tasks/record.ts';
import { isLarge, moved } from '../../tasks/s3/moved-input.ts';
import { create, failAsSeen, isTerminal } from '../../tasks/transitions.ts';
import { roundInput } from '../../tasks/workflow.ts';
import type { OperatorContext, ToolFacts } from '../context.ts';
import { NotAllowed, OperatorError } from '../errors.ts';
import { type FirstInput, firstInputOf } from '../payload.ts';
import { isDenied } from '../runs.ts';
import { runsOf } from '../show.ts';
import { seenNow } from '../view.ts';
import { byOperator, type Operator, type Outcome, readRecord, told } from './act.ts';

/** Rounds of the first task whose runs are looked at: one that ran is enough. */
const ROUNDS = 3;

/**
 * Makes a new task of the same owner from the same arguments, as far as they are still known. Refuses if that could repeat
 * an effect: the tool may not be repeated, and the first task may have run. `force` does it all the same. Needs the right to
 * payloads. Throws OperatorError.
 */
export async function rerunTask(
  key: TaskKey,
  force: boolean,
  operator: Operator,
  context: OperatorContext,
): Promise<Outcome> {
  const record = await readRecord(key, true, context);
  const refuse = (message: string): Outcome =>
    told('rerun', record, operator, { done: false, message: `Not run again: ${message}` }, context);
  const tool = context.server.tools.get(record.tool);
  if (tool?.machineArn === undefined) return refuse(`this server has no tool '${record.tool}' that runs as a task`);
  if (!isTerminal((seenNow(record, context.now()) ?? { status: 'failed' }).status)) {
    return refuse('it is still open. Cancel it first');
  }
  if (!tool.repeatable && !force && (await mayHaveRun(record, context))) {
    return refuse(
      `'${record.tool}' may have had effects already, and its annotations do not say that it can be repeated. --force does it all the same`,
    );
  }
  const first = await allowed(context.inputs.whole(record).then((whole) => firstInputOf(whole, context)));
  if (first === undefined) {
    return refuse('its arguments are not known any more. Set keepArguments of its tool to keep them with later tasks');
  }
  const made = newRecord(record, first, tool, operator, context.now());
  const message = await begin(made, first.arguments, tool.machineArn, context);
  return told('rerun', record, operator, { done: true, newTaskId: made.taskId, message }, context);
}

/** Whether a run of it began. What cannot be known counts as yes. */
async function mayHaveRun(record: TaskRecord, context: OperatorContext): Promise<boolean> {
  const runs = await runsOf(record, ROUNDS, context);
  return runs.some(({ status }) => status !== 'missing');
}

function newRecord(
  record: TaskRecord,
  first: FirstInput,
  tool: ToolFacts,
  operator: Operator,
  now: number,
): TaskRecord {
  const { legacy = false, accepts = [], ttl } = record;
  const given = Object.entries(first.inputResponses);
  const made = create(
    newKeyBeside(record, now),
    {
      ...{ tool: record.tool, ttl, timeout: tool.timeout, accepts, legacy },
      ...(tool.outputSchemaId !== undefined && { outputSchemaId: tool.outputSchemaId }),
      ...(tool.scopes && { scopes: tool.scopes }),
      inputResponses: Object.fromEntries(given.map(([name, value]) => [wireKey(0, name), JSON.stringify(value)])),
    },
    now,
  );
  const event = byOperator({ from: [], set: {}, event: { at: now, what: 'created', by: 'operator' } }, operator).event;
  return { ...made, rerunOf: record.taskId, ...(event && { events: [event] }) };
}

/** As the endpoint creates a task: its input, its record, its first round. */
async function begin(made: TaskRecord, args: string, machineArn: string, context: OperatorContext): Promise<string> {
  const { inputs, store, workflow } = context;
  // The record needs its arguments only after a question, and a client that cannot answer is never asked.
  const split = made.accepts !== undefined && isLarge({ ...made, arguments: args });
  const large = split ? moved({ ...made, arguments: args }) : undefined;
  const record = large?.record ?? made;
  const keeps = large === undefined && (made.accepts !== undefined || !isLarge({ arguments: args }));
  const input = roundInput(made, args, keeps);
  if (input === undefined)
    throw new OperatorError('Its arguments are too large to start with: 256 KiB with their escapes');
  if (large !== undefined) await allowed(inputs.put(record, large.text));
  if (!(await allowed(store.create(record)))) throw new OperatorError('The id of the new task is taken: try again');
  try {
    await workflow.start(record, machineArn, input);
  } catch (error) {
    const failure = failAsSeen(record, { code: -32603, message: 'The task could not be started' }, context.now());
    await store.applyBlind(record, failure).catch(() => undefined);
    if (isDenied(error)) throw new NotAllowed('Not run again', 'act', 'start its workflow');
    throw new OperatorError(`The new task ${made.taskId} could not be started (${(error as Error).name}): try again`);
  }
  return `Runs again as ${made.taskId}`;
}

async function allowed<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (isDenied(error) || (error as { code?: string }).code === 'AccessDenied') {
      throw new NotAllowed('Not run again', 'payload', 'read its arguments, or create a task (the act policy)');
    }
    throw error;
  }
}
