import type { ToolEvent } from '../tasks/tool-contract.ts';
import { ToolError } from './errors.ts';
import { kept, type Memory, memoryText, NO_ROOM, openMemory, textOf } from './memory.ts';
import type { RunContext } from './run-context.ts';

/** The memory of one run, and what all runs of its round have stored: on Express two may work at the same time. */
export interface RunMemory {
  readonly memory: Memory;
  /** Throws ToolError, which names the limit, if it is too large: then the variable keeps its value. */
  setVariable(name: string, value: unknown): void;
  /**
   * Does a step that was not done. If its result cannot be kept, the memory says why. If there is no room even for that, it
   * throws ToolError before the work. Throws what the work throws: then nothing is kept.
   */
  doStep(name: string, work: () => unknown): Promise<void>;
  /** Of a step that was done; undefined if it was not. Throws ToolError if its result could not be kept. */
  resultOf(name: string): { readonly value: unknown } | undefined;
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
  /** Steps that are being done. */
  const begun = new Set<string>();
  let stored: string | undefined;
  let recalled: Promise<void> | undefined;
  let written = Promise.resolve(true);

  function add(text: string): void {
    stored = text;
    const { variables, steps, misfits } = openMemory(JSON.parse(text));
    for (const name in variables) if (!set.has(name)) memory.variables[name] = variables[name];
    // Of a step that two runs have done, the result that was stored first counts, in both.
    Object.assign(memory.steps, steps);
    Object.assign(memory.misfits, misfits);
  }

  /** Each step that is being done has room left to say why its result cannot be kept. */
  function hasRoom(change: Partial<Memory>): boolean {
    const reserved = Object.fromEntries([...begun].map((name) => [name, NO_ROOM]));
    return textOf({ ...memory, ...change, misfits: { ...memory.misfits, ...reserved } }) !== undefined;
  }

  return {
    memory,
    setVariable(name, value) {
      const given = kept(value);
      if ('problem' in given) throw new ToolError(`Variable '${name}' ${given.problem}`);
      if (!hasRoom({ variables: { ...memory.variables, [name]: given.value } }))
        throw new ToolError(`Variable '${name}' ${NO_ROOM}`);
      memory.variables[name] = given.value;
      set.add(name);
    },
    async doStep(name, work) {
      begun.add(name);
      try {
        // What is done and cannot be remembered would be done again.
        if (!hasRoom({})) throw new ToolError(`Step '${name}' ${NO_ROOM}`);
        const result = kept(await work());
        begun.delete(name);
        // Meanwhile another run of the round may have stored this step.
        if (name in memory.steps) return;
        if ('problem' in result) memory.misfits[name] = result.problem;
        else if (hasRoom({ steps: { ...memory.steps, [name]: result.value } })) memory.steps[name] = result.value;
        else memory.misfits[name] = NO_ROOM;
      } finally {
        begun.delete(name);
      }
    },
    resultOf(name) {
      if (name in memory.steps) return { value: memory.steps[name] };
      if (name in memory.misfits) throw new ToolError(`Step '${name}' ${memory.misfits[name]}`);
      return undefined;
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
