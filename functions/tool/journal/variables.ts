import { isObject, parsed } from '../../tasks/shape.ts';
import type { Entry } from '../../tasks/table/journal-items.ts';

/** Variables in an entry: the ones that were set since the last entry, and their place among the others. */
export type Changes = Pick<Entry, 'variables' | 'round' | 'order'>;

export type Variables = ReturnType<typeof openVariables>;

/** The variables of a run, with what other runs of its round have stored. */
export function openVariables(saved: Readonly<Record<string, unknown>>, round: number) {
  const values = new Map(Object.entries(saved));
  /** Names that this run has set. Its values win over stored ones. */
  const set = new Set<string>();
  /** Names of which no entry has the value yet. */
  const changed = new Set<string>();
  /** The place of the stored value that each name has. */
  const places = new Map<string, number>();
  let order = 0;

  return {
    get: (name: string): unknown => values.get(name),
    all: (): Record<string, unknown> => Object.fromEntries(values),
    set(name: string, value: unknown): void {
      values.set(name, value);
      set.add(name);
      changed.add(name);
    },
    /** Takes what has changed since the last entry, for the next one. */
    changes(): Changes {
      if (changed.size === 0) return {};
      const variables = JSON.stringify(Object.fromEntries([...changed].map((name) => [name, values.get(name)])));
      changed.clear();
      return { variables, round, order: ++order };
    },
    /** Takes changes back that no entry has. */
    takeBack({ variables }: Changes): void {
      for (const name of Object.keys(membersOf(variables))) changed.add(name);
    },
    /** Adds what runs of this round have stored, in its order. Earlier rounds have handed on their own. */
    add(entries: readonly Changes[]): void {
      for (const { variables, round: inRound, order: place = 0 } of entries) {
        if (inRound !== round) continue;
        order = Math.max(order, place);
        for (const [name, value] of Object.entries(membersOf(variables))) {
          if (set.has(name) || place < (places.get(name) ?? 0)) continue;
          values.set(name, value);
          places.set(name, place);
        }
      }
    },
  };
}

function membersOf(variables: string | undefined): Record<string, unknown> {
  const value = parsed(variables ?? '');
  return isObject(value) ? value : {};
}
