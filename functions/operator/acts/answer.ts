import { type Signalled, signal } from '../../engine/signal.ts';
import { overdue } from '../../tasks/deadlines.ts';
import { McpError } from '../../tasks/errors.ts';
import type { Questions } from '../../tasks/questions/question.ts';
import type { TaskKey, TaskRecord } from '../../tasks/record.ts';
import type { Change } from '../../tasks/transitions/change.ts';
import type { OperatorContext } from '../context.ts';
import { OperatorError } from '../errors.ts';
import { byOperator, type Operator, type Outcome, orUnknown, overAlready, readRecord, reported } from './act.ts';
import { answerWaits, namesWaits } from './answer-wait.ts';
import { responsesFrom } from './responses.ts';
import { withRights } from './rights.ts';

type Answered = Omit<Outcome, 'taskId'>;

/** The task as it was last read. */
interface Seen {
  readonly record: TaskRecord;
  /** Why it is not to be answered. */
  readonly idle: string | false | undefined;
  /** Whether the answers are for what its round waits for. */
  readonly waits: boolean;
}

/**
 * Answers open questions of a task as its client would (`signal`), or what its round waits for (`answerWaits`). Needs the
 * right to payloads: it reads the questions. Throws OperatorError.
 *
 * @param pairs `key=value`: see `responsesFrom`
 */
export async function answerTask(
  key: TaskKey,
  pairs: readonly (readonly [key: string, text: string])[],
  operator: Operator,
  context: OperatorContext,
): Promise<Outcome> {
  let last: Seen | undefined;
  const read = async () => {
    const record = await readRecord(key, true, context);
    const now = context.now();
    const over = overAlready(record, now) ?? (overdue(record, now) && 'its deadline has passed');
    const waits = !over && namesWaits(record, pairs);
    const idle = over ?? (record.status !== 'input_required' && 'it asks nothing now');
    last = { record, idle, waits };
    return idle || waits ? undefined : record;
  };
  const say = (record: TaskRecord, outcome: Answered, plain?: string) =>
    reported('answer', record, operator, outcome, context, plain);
  const rights = { policy: 'payload', otherwise: 'Not answered', action: 'read or store its answers' } as const;
  const engine = withRights(context, rights);
  const answering = {
    read,
    responses: (open: Questions) => responsesFrom(pairs, open),
    invalid: 'refuse',
    marked: (record: TaskRecord, change: Change) => byOperator(record, change, 'answered', operator),
    sleep: context.sleep,
  } as const;
  const acting = async () => {
    const signalled = await plainly(signal(answering, engine));
    if (last?.waits) return plainly(answerWaits(last.record, pairs, operator, context, engine));
    if (last?.idle) return say(last.record, { done: false, message: `Not answered: ${last.idle}` });
    if (signalled === undefined || signalled.outcome === 'nothing')
      throw new OperatorError('No answer is given: key=value');
    const { outcome, plain } = said(signalled);
    return say(signalled.record, outcome, plain);
  };
  return orUnknown(acting(), engine, (message, record) => say(record, { done: false, message }));
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
  if (start === 'taken')
    return answered('. A run has the name of its next round: the sweep checks it within 2 minutes');
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
