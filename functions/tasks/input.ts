import type { TaskRecord } from './record.ts';
import { isObject, parsed } from './shape.ts';
import type { InputRequest } from './tool-contract.ts';

/**
 * Questions and answers of a task. The tool names a question; on the wire its key is `r<round>.<name>`, unique for
 * the whole life of the task (E-20) whatever the tool asks again.
 */

/** What a tool returned to end its round. No one has judged it yet: see `question-problem.ts`. */
interface Asked {
  readonly inputRequests?: unknown;
  readonly requestState?: unknown;
}

export const wireKey = (round: number, name: string): string => `r${round}.${name}`;

/**
 * The questions still open, by wire key; empty unless the task is input_required. Throws when they lie in S3: see
 * `withQuestions`.
 */
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
 * The answers of all rounds by the tool's own names; of a name asked twice, the latest. In one order, whatever order the
 * table has them in: two that start the same round must start it with the same text.
 */
export function answersByName(record: TaskRecord): Record<string, unknown> {
  const answers = Object.entries(record.inputResponses ?? {}).map(([key, text]) => {
    const [, round = '0', name = key] = /^r(\d+)\.(.*)$/s.exec(key) ?? [];
    return { round: Number(round), name, answer: JSON.parse(text) as unknown };
  });
  answers.sort((a, b) => a.round - b.round || (a.name < b.name ? -1 : 1));
  return Object.fromEntries(answers.map(({ name, answer }) => [name, answer]));
}

export function requestState(record: TaskRecord): unknown {
  return asked(record).requestState ?? null;
}

/** What the last round ended with. */
export function asked({ asked: text }: Pick<TaskRecord, 'asked'>): Asked {
  const value = text === undefined ? undefined : parsed(text);
  return isObject(value) ? value : {};
}
