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
import type { Server } from '../context.ts';
import { checkScopes } from '../identity/caller.ts';
import { goOn } from './resume-round.ts';
import { storeInput, wholeInput } from './task-input.ts';
import { notFound, present } from './task-view.ts';

/** More racing writers than this on one task, and the client may try again. */
const ATTEMPTS = 25;

/**
 * Gives a task answers, by wire key; keys that are not outstanding are ignored (E-18). First answer wins (F-09): a
 * lost race is decided again on what the record has become. `invalid` answers are refused with an error that
 * names them, or left out, so that their question stays open.
 */
export async function answerTask(
  principal: Principal,
  taskId: unknown,
  responses: Readonly<Record<string, unknown>>,
  invalid: 'refuse' | 'leave',
  server: Server,
): Promise<TaskRecord> {
  const key = taskKey(principal, taskId);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const stored = key && (await server.store.get(key));
    const record = stored && present(stored, server);
    if (record === undefined) throw notFound(principal, taskId, server);
    checkScopes(principal, record, server);
    // Answered, but perhaps not restarted: a repeated answer repairs that, and starting a round twice starts it once.
    if (record.status === 'working' && record.round > 1) {
      return server.now() < record.deadlineAt ? goOn(record, server) : record;
    }
    const late = record.status === 'input_required' ? overdue(record, server.now()) : undefined;
    if (late !== undefined) {
      const failed = await server.store.apply(record, late);
      if (failed !== undefined) return failed;
      continue;
    }
    const whole = record.status === 'input_required' ? await wholeInput(record, server) : record;
    const open = outstanding(whole);
    const answers = pick(responses, open, invalid);
    const ignored = Object.keys(responses).filter((name) => !Object.hasOwn(open, name)).length;
    if (ignored > 0 && attempt === 0) logIgnored(whole, ignored);
    if (Object.keys(answers).length === 0) return whole;
    const change = answer(record, Object.keys(open), answers, server.now());
    if (bytesOf(whole, answers) > limits.answers) {
      throw new InvalidParams(`The answers are too large: those of one task may take ${limits.answers} bytes together`);
    }
    const answered = after(whole, answer(whole, Object.keys(open), answers, server.now()));
    if (roundInput(answered, whole.arguments ?? '', record.inputRef === undefined) === undefined) {
      throw new InvalidParams('The answers are too large: with arguments and request state they may take 256 KiB');
    }
    const changed = await server.store.apply(record, await kept(change, after(record, change), answered, server));
    if (changed?.status === 'working') {
      // Whoever answered at the same moment may have been told that it was too late: so it is, and nothing starts.
      const failure = overdue(record, server.now());
      if (failure === undefined) return goOn(changed, server, true);
      return (await server.store.apply(changed, { ...failure, from: ['working'], round: changed.round })) ?? changed;
    }
    if (changed !== undefined) return changed;
    await server.sleep(Math.random() * 20 * attempt);
  }
  throw new InternalError('The task is changing too fast: try again');
}

/** The change as the record has room for it. What is too large lies in S3 before the record says so. */
async function kept(change: Change, changed: TaskRecord, whole: TaskRecord, server: Server): Promise<Change> {
  if (!isLarge(changed)) return change;
  const { record, text } = moved(whole);
  await storeInput(record, text, server);
  return answerMoved(change, record);
}

/** Of all answers to a task, and these. */
function bytesOf({ inputResponses }: TaskRecord, more: Readonly<Record<string, string>>): number {
  return Buffer.byteLength(
    Object.entries({ ...inputResponses, ...more })
      .flat()
      .join(''),
  );
}

/** Only outstanding keys are looked at, whatever the others hold. */
function pick(
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
