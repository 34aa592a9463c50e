import { createHash } from 'node:crypto';
import type { TaskRecord } from './record.ts';
import { isObject, parsed } from './shape.ts';
import type { InputRequest } from './tool-contract.ts';
import { isSignalKey } from './waits/signals.ts';

/**
 * Questions and answers of a task. The tool names a question. On the wire its key is `r<round>.<name>`: unique in the
 * task, even if the tool asks again under the same name (E-20).
 */

/** What a tool returned to end its round, not checked yet: see `question-problem.ts`. */
interface Asked {
  readonly inputRequests?: unknown;
  readonly requestState?: unknown;
}

export const wireKey = (round: number, name: string): string => `r${round}.${name}`;

/** The open questions, by wire key, of a task that asks. Throws when they lie in S3: see `withQuestions`. */
export function outstanding(record: TaskRecord): Record<string, InputRequest> {
  if (record.status !== 'input_required') return {};
  if (record.asked === undefined && record.inputRef !== undefined) {
    throw new Error('The questions of this record lie in S3');
  }
  const { inputRequests } = asked(record);
  const open = Object.entries(isObject(inputRequests) ? inputRequests : {})
    .map(([name, request]) => [wireKey(record.round, name), request as unknown as InputRequest] as const)
    .filter(([key]) => !Object.hasOwn(record.inputResponses ?? {}, key));
  return Object.fromEntries(open);
}

/**
 * The answers of all rounds by the tool's names; of a name asked twice, the latest. Sorted, as the table has no order:
 * two starts of a round must send the same text.
 */
export function answersByName(record: TaskRecord): Record<string, unknown> {
  const answers = Object.entries(record.inputResponses ?? {})
    .filter(([key]) => !isSignalKey(key))
    .map(([key, text]) => {
      const [, round = '0', name = key] = /^r(\d+)\.(.*)$/s.exec(key) ?? [];
      return { round: Number(round), name, answer: JSON.parse(text) as unknown };
    });
  answers.sort((a, b) => a.round - b.round || (a.name < b.name ? -1 : 1));
  return Object.fromEntries(answers.map(({ name, answer }) => [name, answer]));
}

export function requestState(record: TaskRecord): unknown {
  return asked(record).requestState ?? null;
}

/** What the last round returned. */
export function asked({ asked: text }: Pick<TaskRecord, 'asked'>): Asked {
  const value = text === undefined ? undefined : parsed(text);
  return isObject(value) ? value : {};
}

/** By questions, under short names: so the record stays small however long their own are. */
type Refused = NonNullable<TaskRecord['refused']>;

const refusedAs = (key: string): string => createHash('sha256').update(key).digest('base64url').slice(0, 8);

/** How many answers to a question were refused as invalid in this round. @param key its wire key */
export const refusalsOf = ({ refused }: Pick<TaskRecord, 'refused'>, key: string): number =>
  refused?.[refusedAs(key)] ?? 0;

/** The counts after one more refusal. */
export const withRefusal = (record: Pick<TaskRecord, 'refused'>, key: string): Refused => ({
  ...record.refused,
  [refusedAs(key)]: refusalsOf(record, key) + 1,
});

/** How many answers to all questions were refused. */
export const allRefusals = (refused: Refused): number => Object.values(refused).reduce((sum, count) => sum + count, 0);
