import { isObject, isString } from '../../tasks/shape.ts';
import type { Entry } from '../../tasks/table/journal-items.ts';
import type { InputResponse } from '../../tasks/tool-contract.ts';

/** What a round has handed on to the next with its questions: its variables; without a task, all that it has done, too. */
export interface Carried {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly entries: readonly Entry[];
  readonly answers: Readonly<Record<string, InputResponse>>;
}

export function carriedOf(requestState: unknown): Carried {
  const { variables, steps, misfits, answers } = membersOf(requestState);
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
  };
}

const membersOf = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});
