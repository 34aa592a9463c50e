import { limits } from '../../tasks/limits.ts';

/** What a name is of. Sleeps, links, webhooks and polls are waits. */
type Kind = 'step' | 'file' | 'wait' | 'question';

export type Names = ReturnType<typeof openNames>;

/**
 * The names that one run has used: what a task has done is found by its name, so none comes twice. Another try of a step may use
 * again what the try before it has used.
 *
 * @param step the step that the code which asks works for
 */
export function openNames(step: () => string | undefined) {
  const used = new Set<string>();
  /** What another try of a step may use again: all but what is under way. */
  const done = new Map<string | undefined, Set<string>>();

  function finish(key: string, by: string | undefined): void {
    const keys = done.get(by) ?? new Set();
    done.set(by, keys.add(key));
  }

  return {
    has: (kind: Kind, name: string): boolean => used.has(`${kind} ${name}`),
    use(kind: Kind, name: string): void {
      used.add(`${kind} ${name}`);
      finish(`${kind} ${name}`, step());
    },
    /**
     * Keeps a name for this work, and from then on. Work that fails may be done again. Throws an Error if the name is used.
     *
     * @param label begins the message. @example "File 'report.csv'"
     */
    async keep<T>(kind: Kind, name: string, label: string, work: () => Promise<T>): Promise<T> {
      const key = `${kind} ${name}`;
      if (used.has(key)) throw new Error(`${label} comes twice in one run: give each its own name`);
      const by = step();
      used.add(key);
      try {
        const made = await work();
        finish(key, by);
        return made;
      } catch (error) {
        used.delete(key);
        throw error;
      }
    },
    /** Before a try of a step. What an earlier try has left under way keeps its name: nothing is done twice at the same time. */
    giveBack(of: string | undefined): void {
      for (const key of done.get(of) ?? []) used.delete(key);
      done.delete(of);
    },
  };
}

/** Whether a step or a wait may have this name: characters of any kind; half of a surrogate pair is none. */
export const isName = (name: unknown): boolean =>
  typeof name === 'string' && name !== '' && [...name].length <= limits.journal.name && name.isWellFormed();
