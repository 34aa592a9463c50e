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
  const used = new Map<string, { readonly step: string | undefined; isDone: boolean }>();
  return {
    has: (kind: Kind, name: string): boolean => used.has(`${kind} ${name}`),
    use: (kind: Kind, name: string): void => void used.set(`${kind} ${name}`, { step: step(), isDone: true }),
    /**
     * Keeps a name for this work, and from then on. Work that fails may be done again. Throws an Error if the name is used.
     *
     * @param label begins the message. @example "File 'report.csv'"
     */
    async keep<T>(kind: Kind, name: string, label: string, work: () => Promise<T>): Promise<T> {
      const key = `${kind} ${name}`;
      if (used.has(key)) throw new Error(`${label} comes twice in one run: give each its own name`);
      const one = { step: step(), isDone: false };
      used.set(key, one);
      try {
        const made = await work();
        one.isDone = true;
        return made;
      } catch (error) {
        used.delete(key);
        throw error;
      }
    },
    /** Before a try of a step. What an earlier try has left under way keeps its name: nothing is done twice at the same time. */
    giveBack(of: string | undefined): void {
      for (const [key, one] of used) {
        if (one.step === of && one.isDone) used.delete(key);
      }
    },
  };
}

/** Whether a step or a wait may have this name: characters of any kind; half of a surrogate pair is none. */
export const isName = (name: unknown): boolean =>
  typeof name === 'string' && name !== '' && [...name].length <= limits.journal.name && name.isWellFormed();
