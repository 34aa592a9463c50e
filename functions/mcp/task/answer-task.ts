import { overdue } from '../../tasks/deadlines.ts';
import { InternalError, InvalidParams } from '../../tasks/errors.ts';
import { type Principal, taskKey } from '../../tasks/ids.ts';
import { outstanding } from '../../tasks/input.ts';
import { limits } from '../../tasks/limits.ts';
import { logIgnored } from '../../tasks/log.ts';
import { answerProblem } from '../../tasks/questions/form.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { isLarge, moved } from '../../tasks/s3/moved-input.ts';
import { after, answer, answerMoved, type Change } from '../../tasks/transitions.ts';
import { roundInput } from '../../tasks/workflow.ts';
import type { ServerContext } from '../context.ts';
import { checkScopes } from '../identity/caller.ts';
import { startCurrentRound } from './resume-round.ts';
import { storeInput, wholeInput } from './task-input.ts';
import { currentRecord, notFound } from './task-view.ts';

/** After this many lost races with other writers, the client gets an error and may try again. */
const ATTEMPTS = 25;

/**
 * Stores answers to a task's open questions and starts the next round when all are there. Keys of no open question are
 * ignored (E-18). The first answer wins (F-09): after a lost race, the new record decides.
 *
 * @param responses answers by wire key
 * @param invalid `refuse`: an invalid answer throws InvalidParams. `leave`: it is left out, and its question stays open
 */
export async function answerTask(
  principal: Principal,
  taskId: unknown,
  responses: Readonly<Record<string, unknown>>,
  invalid: 'refuse' | 'leave',
  server: ServerContext,
): Promise<TaskRecord> {
  const key = taskKey(principal, taskId);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const readAt = server.now();
    const stored = key && (await server.store.get(key));
    const record = stored && currentRecord(stored, readAt, server);
    if (record === undefined) throw notFound(principal, taskId, server);
    checkScopes(principal, record, server);
    // The request before may have crashed before the restart: a repeated answer starts the round, which is idempotent.
    if (record.status === 'working' && record.round > 1) {
      return server.now() < record.deadlineAt ? startCurrentRound(record, server) : record;
    }
    const late = record.status === 'input_required' ? overdue(record, server.now()) : undefined;
    if (late !== undefined) {
      const failed = await server.store.apply(record, late);
      if (failed !== undefined) return failed;
      continue;
    }
    const whole = record.status === 'input_required' ? await wholeInput(record, server) : record;
    const open = outstanding(whole);
    const answers = validAnswers(responses, open, invalid);
    const ignored = Object.keys(responses).filter((name) => !Object.hasOwn(open, name)).length;
    if (ignored > 0 && attempt === 0) logIgnored(whole, ignored);
    if (Object.keys(answers).length === 0) return whole;
    const change = answer(record, Object.keys(open), answers, server.now());
    if (answerBytes(whole, answers) > limits.answers) {
      throw new InvalidParams(`The answers are too large: those of one task may take ${limits.answers} bytes together`);
    }
    const answered = after(whole, answer(whole, Object.keys(open), answers, server.now()));
    // As the round starts: if the answers lie in S3, its input has one more member.
    if (roundInput(answered, whole.arguments ?? '', false) === undefined) {
      throw new InvalidParams('The answers are too large: with arguments and request state they may take 256 KiB');
    }
    const changed = await server.store.apply(
      record,
      await withMovedInput(change, after(record, change), answered, server),
    );
    if (changed?.status === 'working') {
      // Another answer at the same moment may have been refused as too late: then this one must not start a round.
      const failure = overdue(record, server.now());
      if (failure === undefined) return startCurrentRound(changed, server, true);
      return (await server.store.apply(changed, { ...failure, from: ['working'], round: changed.round })) ?? changed;
    }
    if (changed !== undefined) return changed;
    await server.sleep(Math.random() * 20 * attempt);
  }
  throw new InternalError('The task is changing too fast: try again');
}

/** The change, with input that is too large for the record moved to S3. S3 is written first. */
async function withMovedInput(
  change: Change,
  changed: TaskRecord,
  whole: TaskRecord,
  server: ServerContext,
): Promise<Change> {
  if (!isLarge(changed)) return change;
  const { record, text } = moved(whole);
  await storeInput(record, text, server);
  return answerMoved(change, record);
}

/** Bytes of all answers to a task, with these. */
function answerBytes({ inputResponses }: TaskRecord, more: Readonly<Record<string, string>>): number {
  return Buffer.byteLength(
    Object.entries({ ...inputResponses, ...more })
      .flat()
      .join(''),
  );
}

/** The valid answers to open questions, as JSON texts. Other keys are not checked. */
function validAnswers(
  responses: Readonly<Record<string, unknown>>,
  open: ReturnType<typeof outstanding>,
  invalid: 'refuse' | 'leave',
): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const [key, request] of Object.entries(open)) {
    if (!Object.hasOwn(responses, key)) continue;
    const problem = answerProblem(request, responses[key]);
    if (problem === undefined) picked[key] = JSON.stringify(responses[key]);
    else if (invalid === 'refuse') throw new InvalidParams(`inputResponses['${key}']: ${problem}`);
  }
  return picked;
}
