import { overdue } from '../../tasks/deadlines.ts';
import { McpError } from '../../tasks/errors.ts';
import { awaitRun } from '../../tasks/express/changes.ts';
import { FAILURES } from '../../tasks/failures.ts';
import { outstanding } from '../../tasks/input.ts';
import { addAnswers } from '../../tasks/questions/add-answers.ts';
import type { TaskKey, TaskRecord } from '../../tasks/record.ts';
import { after, isTerminal, keyExpired } from '../../tasks/transitions.ts';
import { restart } from '../../tasks/workflow.ts';
import type { OperatorContext } from '../context.ts';
import { NotAllowed, OperatorError } from '../errors.ts';
import { isDenied } from '../runs.ts';
import {
  byOperator,
  keepPayload,
  type Operator,
  type Outcome,
  overAlready,
  readRecord,
  stopRun,
  told,
  write,
} from './act.ts';
import { responsesFrom } from './responses.ts';

/** Lost races with other writers. */
const ATTEMPTS = 10;

/**
 * Answers open questions of a task as its client would: the same checks, and the first answer wins. The last answer starts
 * the next round. Needs the right to payloads: it reads the questions. Throws OperatorError.
 *
 * @param pairs `key=value`: see `responsesFrom`
 */
export async function answerTask(
  key: TaskKey,
  pairs: readonly (readonly [key: string, text: string])[],
  operator: Operator,
  context: OperatorContext,
): Promise<Outcome> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const record = await readRecord(key, true, context);
    const now = context.now();
    const over = overAlready(record, now) ?? (overdue(record, now) && 'its deadline has passed');
    const idle = over ?? (record.status === 'working' ? 'it works and asks nothing' : undefined);
    if (idle !== undefined)
      return told('answer', record, operator, { done: false, message: `Not answered: ${idle}` }, context);
    const whole = await context.inputs.whole(record);
    const open = outstanding(whole);
    const given = responsesFrom(pairs, open);
    const express = context.server.tools.get(record.tool)?.express === true;
    const answers = valid(() => addAnswers(record, whole, open, given, 'refuse', now, express));
    if (answers === undefined) throw new OperatorError('No answer is given: key=value');
    if (answers.stored) await stored(context.inputs.put(answers.stored.record, answers.stored.text));
    const change = byOperator(record, answers.change, 'answered', operator);
    if (!(await write(record, change, 'payload', context))) continue;
    const changed = after(record, change);
    const left = Object.keys(open).filter((name) => !Object.hasOwn(given, name));
    const outcome =
      changed.status === 'working'
        ? await started(changed, context)
        : { done: true, message: `Answered. Still open: ${left.join(', ')}` };
    const plain = changed.status === 'working' ? outcome.message : `Answered. ${left.length} open`;
    return told('answer', record, operator, outcome, context, plain);
  }
  throw new OperatorError('The task is changing too fast: try again');
}

/** Starts the round that the last answer began. If it fails, a poll or the sweep starts it. */
async function started(record: TaskRecord, context: OperatorContext): Promise<Omit<Outcome, 'taskId'>> {
  const answered = (message: string) => ({ done: true, message: `Answered${message}` });
  const machineArn = context.server.tools.get(record.tool)?.machineArn;
  try {
    const start = await restart(record, machineArn, context.workflow, context.inputs);
    if (start === 'gone') return answered(', but this server no longer has the tool: the task ends at its deadline');
    if (start === 'taken' && record.digest !== undefined) {
      const change = keepPayload(keyExpired(record, context.now()));
      const expired = await context.store.applyBlind(record, change).catch(() => undefined);
      const { message } = FAILURES.KeyExpired;
      if (expired !== false) return { done: false, message: `Answered, but it cannot go on: ${message}` };
    }
  } catch (error) {
    return answered(
      `. Its next round could not be started now (${(error as Error).name}): the sweep starts it within 2 minutes`,
    );
  }
  // Best effort: at its first check the sweep starts a round on Express again that has no such note.
  const note = record.express ? context.store.applyBlind(record, awaitRun(record, context.now())) : undefined;
  await note?.catch(() => undefined);
  // A cancel before the start found no run to stop.
  const seen = await readRecord(record, false, context);
  if (isTerminal(seen.status)) await stopRun(record, context);
  return answered(`. Round ${record.round} runs`);
}

function valid<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw error instanceof McpError ? new OperatorError(error.message) : error;
  }
}

async function stored(put: Promise<void>): Promise<void> {
  await put.catch((error: Error & { readonly code?: string }) => {
    if (isDenied(error) || error.code === 'AccessDenied')
      throw new NotAllowed('Not answered', 'payload', 'store its answers');
    throw error;
  });
}
