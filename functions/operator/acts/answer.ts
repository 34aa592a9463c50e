import { type Signalled, signal } from '../../engine/signal.ts';
import { overdue } from '../../tasks/deadlines.ts';
import { McpError } from '../../tasks/errors.ts';
import { FAILURES } from '../../tasks/failures.ts';
import type { TaskKey, TaskRecord } from '../../tasks/record.ts';
import type { OperatorContext } from '../context.ts';
import { OperatorError } from '../errors.ts';
import { byOperator, type Operator, type Outcome, overAlready, readRecord, told } from './act.ts';
import { responsesFrom } from './responses.ts';
import { withRights } from './rights.ts';

type Answered = Omit<Outcome, 'taskId'>;

/**
 * Answers open questions of a task as its client would: see `signal`. Needs the right to payloads: it reads the questions.
 * Throws OperatorError.
 *
 * @param pairs `key=value`: see `responsesFrom`
 */
export async function answerTask(
  key: TaskKey,
  pairs: readonly (readonly [key: string, text: string])[],
  operator: Operator,
  context: OperatorContext,
): Promise<Outcome> {
  let idle: { readonly record: TaskRecord; readonly why: string } | undefined;
  const read = async () => {
    const record = await readRecord(key, true, context);
    const now = context.now();
    const over = overAlready(record, now) ?? (overdue(record, now) && 'its deadline has passed');
    const why = over ?? (record.status === 'working' ? 'it works and asks nothing' : undefined);
    if (why !== undefined) idle = { record, why };
    return why === undefined ? record : undefined;
  };
  const signalled = await plainly(
    signal(
      {
        read,
        responses: (open) => responsesFrom(pairs, open),
        invalid: 'refuse',
        marked: (record, change) => byOperator(record, change, 'answered', operator),
        sleep: context.sleep,
      },
      withRights(context, { policy: 'payload', otherwise: 'Not answered', action: 'read or store its answers' }),
    ),
  );
  if (idle !== undefined) {
    return told('answer', idle.record, operator, { done: false, message: `Not answered: ${idle.why}` }, context);
  }
  if (signalled === undefined || signalled.outcome === 'nothing')
    throw new OperatorError('No answer is given: key=value');
  const { outcome, plain } = said(signalled);
  return told('answer', signalled.record, operator, outcome, context, plain);
}

/** What the operator reads. `plain`: for the audit line, if the message holds what a tool wrote. */
function said(signalled: Exclude<Signalled, { outcome: 'nothing' }>): { outcome: Answered; plain?: string } {
  const { record } = signalled;
  if (signalled.outcome === 'late') {
    return { outcome: { done: false, message: 'Not answered: its deadline has passed' } };
  }
  if (signalled.outcome === 'stored') {
    const message = `Answered. Still open: ${signalled.open.join(', ')}`;
    return { outcome: { done: true, message }, plain: `Answered. ${signalled.open.length} open` };
  }
  const { start } = signalled;
  const answered = (message: string) => ({ outcome: { done: true, message: `Answered${message}` } });
  if (start === 'gone') return answered(', but this server no longer has the tool: the task ends at its deadline');
  if (start === 'expired') {
    return { outcome: { done: false, message: `Answered, but it cannot go on: ${FAILURES.KeyExpired.message}` } };
  }
  if (typeof start === 'object') {
    const { name } = start.error as Error;
    return answered(`. Its next round could not be started now (${name}): the sweep starts it within 2 minutes`);
  }
  return answered(`. Round ${record.round} runs`);
}

async function plainly<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw error instanceof McpError ? new OperatorError(error.message) : error;
  }
}
