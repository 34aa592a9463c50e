import type { ToolEvent } from '../tasks/tool-contract.ts';
import { checked, checkRoom, type Memory, memoryText, openMemory } from './memory.ts';
import type { RunContext } from './run-context.ts';

/** The memory of one run, and what all runs of its round have stored: on Express two may work at the same time. */
export interface RunMemory {
  readonly memory: Memory;
  /** Throws ToolError, which names the limit, if it is too large: then the variable keeps its value. */
  setVariable(name: string, value: unknown): void;
  /**
   * Adds what an earlier run of this round has stored, if there may be one: a retry, or any run on Express, where a run
   * that starts again cannot be told from the first. Reads once.
   */
  recall(): Promise<void>;
  /** Stores the memory, with what another run has stored since. False when the task is over. */
  remember(): Promise<boolean>;
}

/** More than one means that another run has finished a step meanwhile. */
const MOST_WRITES = 10;

export function openRunMemory({ task, requestState }: ToolEvent, context: RunContext): RunMemory {
  const memory = openMemory(requestState);
  /** Variables that this run has set: theirs are the values that count. */
  const set = new Set<string>();
  let stored: string | undefined;
  let recalled: Promise<void> | undefined;
  let written = Promise.resolve(true);

  function add(text: string): void {
    stored = text;
    const { variables, steps } = openMemory(JSON.parse(text));
    for (const name in variables) if (!set.has(name)) memory.variables[name] = variables[name];
    // Of a step that two runs have done, the result that was stored first counts, in both.
    Object.assign(memory.steps, steps);
  }

  return {
    memory,
    setVariable(name, value) {
      const kept = checked(`Variable '${name}'`, value);
      checkRoom(memory, 'variables', name, kept);
      memory.variables[name] = kept;
      set.add(name);
    },
    recall() {
      if (task === undefined || (task.attempt === 0 && task.run === undefined)) return Promise.resolve();
      recalled ??= context.recall(task).then(
        (text) => {
          if (text !== undefined) add(text);
        },
        (error: unknown) => {
          recalled = undefined;
          throw error;
        },
      );
      return recalled;
    },
    remember() {
      // One write at a time: steps that end together are stored together.
      written = written
        .catch(() => true)
        .then(async () => {
          for (let writes = 0; writes < MOST_WRITES; writes++) {
            const text = memoryText(memory);
            if (task === undefined || text === stored) return true;
            const other = await context.remember(task, text, stored);
            if (other === true) stored = text;
            if (typeof other === 'boolean') return other;
            add(other);
          }
          throw new Error('Other runs of this round store steps all the time');
        });
      return written;
    },
  };
}
