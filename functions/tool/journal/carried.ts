import { isObject, isString } from '../../tasks/shape.ts';
import type { Entry } from '../../tasks/table/journal-items.ts';
import type { InputResponse } from '../../tasks/tool-contract.ts';

/** What a round has handed on to the next with its questions: its variables; without a task, all that it has done, too. */
export interface Carried {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly entries: readonly Entry[];
  readonly answers: Readonly<Record<string, InputResponse>>;
  /** The names of questions that steps have asked, and which step: it is not asked again once it is stored. */
  readonly questions: Readonly<Record<string, unknown>>;
}

export function carriedOf(requestState: unknown): Carried {
  const { variables, steps, misfits, answers, questions } = membersOf(requestState);
  return {
    variables: membersOf(variables),
    entries: [
      ...Object.entries(membersOf(steps)).map(
        ([name, value]) => ({ kind: 'step', name, value: JSON.stringify(value) }) as const,
      ),
      ...Object.entries(membersOf(misfits)).flatMap(([name, misfit]) =>
        isString(misfit) ? [{ kind: 'step', name, misfit: String(misfit) } as const] : [],
      ),
    ],
    answers: membersOf(answers) as Record<string, InputResponse>,
    questions: membersOf(questions),
  };
}

/** What a call without a task has done, for its next round. */
export function stepsOf(entries: readonly Entry[]): object {
  const steps = entries.flatMap(({ name, value }) => (value === undefined ? [] : [[name, JSON.parse(value)]]));
  const misfits = entries.flatMap(({ name, misfit }) => (misfit === undefined ? [] : [[name, misfit]]));
  return { steps: Object.fromEntries(steps), misfits: Object.fromEntries(misfits) };
}

const membersOf = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});
