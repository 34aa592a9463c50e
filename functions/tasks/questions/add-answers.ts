import type { Engine } from '../engines.ts';
import { InvalidParams } from '../errors.ts';
import type { outstanding } from '../input.ts';
import { limits } from '../limits.ts';
import type { TaskRecord } from '../record.ts';
import { hasRoom, roundInput } from '../round-input.ts';
import { isLarge, moved } from '../s3/moved-input.ts';
import { answer, withInputApart } from '../transitions/answers.ts';
import { after, type Change } from '../transitions/change.ts';
import { answerProblem } from './answer-problem.ts';

export interface AddedAnswers {
  readonly change: Change;
  /** Input that is too large for the record: store its text in S3 before the change. */
  readonly stored?: { readonly record: TaskRecord; readonly text: string };
}

/**
 * Checks answers to open questions, and makes the change that adds them. Undefined: none of them is to an open question.
 * Throws InvalidParams for answers that are too large, or not valid.
 *
 * @param record as it is stored; `whole` with its input
 * @param open the open questions of `whole`
 * @param responses answers by wire key. Keys of no open question are ignored (E-18)
 * @param invalid `refuse`: an invalid answer throws. `leave`: it is left out, and its question stays open
 * @param engine of the next round
 */
export function addAnswers(
  record: TaskRecord,
  whole: TaskRecord,
  open: ReturnType<typeof outstanding>,
  responses: Readonly<Record<string, unknown>>,
  invalid: 'refuse' | 'leave',
  now: number,
  engine: Engine | undefined,
): AddedAnswers | undefined {
  const answers = validAnswers(responses, open, invalid);
  if (Object.keys(answers).length === 0) return undefined;
  const toAdd = (to: TaskRecord) => answer(to, Object.keys(open), answers, now, engine);
  const change = toAdd(record);
  if (answerBytes(whole, answers) > limits.answers) {
    throw new InvalidParams(
      `The answers are too large: all answers to one task may take ${limits.answers} bytes together`,
    );
  }
  const answered = after(whole, toAdd(whole));
  // As the round starts: if the answers lie in S3, its input has one more member.
  if (!hasRoom(roundInput(answered, whole.arguments ?? '', false))) {
    throw new InvalidParams('The answers are too large: with arguments and request state they may take 256 KiB');
  }
  if (!isLarge(after(record, change))) return { change };
  const stored = moved(answered);
  return { change: withInputApart(change, stored.record), stored };
}

/** Bytes of all answers and signals of a task, with their keys. */
export function answerBytes({ inputResponses }: TaskRecord, more: Readonly<Record<string, string>> = {}): number {
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
