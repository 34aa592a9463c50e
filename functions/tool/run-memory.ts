import type { ToolEvent } from '../tasks/tool-contract.ts';
import { TaskEnded, ToolError } from './errors.ts';
import { kept, type Memory, memoryText, NO_ROOM, openMemory, textOf } from './memory.ts';
import type { RunContext } from './run-context.ts';

export type RunMemory = ReturnType<typeof openRunMemory>;

/** The most writes for one step. A second write means that another run has finished a step since the first. */
const MOST_WRITES = 10;

/** The memory of one run, with all that other runs of its round have stored: two may work at the same time. */
export function openRunMemory({ task, requestState }: ToolEvent, context: RunContext) {
  const memory = openMemory(requestState);
  /** Names of the variables that this run has set. Its values win over stored ones. */
  const set = new Set<string>();
  /** Names of the steps under way. */
  const begun = new Set<string>();
  const underWay = new Set<Promise<void>>();
  let closed = false;
  let stored: string | undefined;
  let recalled: Promise<void> | undefined;
  let written = Promise.resolve(true);

  function add(text: string): void {
    stored = text;
    const { variables, steps, misfits } = openMemory(JSON.parse(text));
    for (const name in variables) if (!set.has(name)) memory.variables[name] = variables[name];
    // If two runs have done a step, the result that was stored first counts in both.
    Object.assign(memory.steps, steps);
    Object.assign(memory.misfits, misfits);
  }

  /** Whether each step under way still has room for the reason why its result cannot be kept. */
  function hasRoom(change: Partial<Memory>): boolean {
    const reserved = Object.fromEntries([...begun].map((name) => [name, NO_ROOM]));
    return textOf({ ...memory, ...change, misfits: { ...memory.misfits, ...reserved } }) !== undefined;
  }

  async function doStep(name: string, work: () => unknown): Promise<void> {
    begun.add(name);
    try {
      // A step that is done but not remembered would be done again.
      if (!hasRoom({})) throw new ToolError(`Step '${name}' ${NO_ROOM}`);
      const result = kept(await work());
      begun.delete(name);
      // Another run of the round may have stored this step during the work.
      if (name in memory.steps) return;
      if ('problem' in result) memory.misfits[name] = result.problem;
      else if (hasRoom({ steps: { ...memory.steps, [name]: result.value } })) memory.steps[name] = result.value;
      else memory.misfits[name] = NO_ROOM;
    } finally {
      begun.delete(name);
    }
  }

  return {
    memory,
    /** Sets a variable. Throws a ToolError that names the limit if it is too large: then the variable keeps its value. */
    setVariable(name: string, value: unknown): void {
      const given = kept(value);
      if ('problem' in given) throw new ToolError(`Variable '${name}' ${given.problem}`);
      if (!hasRoom({ variables: { ...memory.variables, [name]: given.value } }))
        throw new ToolError(`Variable '${name}' ${NO_ROOM}`);
      memory.variables[name] = given.value;
      set.add(name);
    },
    /**
     * Does a step that was not done. If its result cannot be kept, the memory keeps the reason. Throws ToolError before the
     * work if there is no room even for the reason. If the work throws, passes its error on and keeps nothing.
     */
    async doStep(name: string, work: () => unknown): Promise<void> {
      if (closed) throw new TaskEnded();
      const step = doStep(name, work);
      underWay.add(step);
      try {
        await step;
      } finally {
        underWay.delete(step);
      }
    },
    /** Waits for the steps under way, and lets no other one begin: the next round would do it again. */
    async close(): Promise<void> {
      closed = true;
      await Promise.allSettled(underWay);
    },
    /** The result of a step that was done; undefined if it was not. Throws ToolError if the result could not be kept. */
    resultOf(name: string): { readonly value: unknown } | undefined {
      if (name in memory.steps) return { value: memory.steps[name] };
      if (name in memory.misfits) throw new ToolError(`Step '${name}' ${memory.misfits[name]}`);
      return undefined;
    },
    /**
     * Loads what an earlier run of this round may have stored: in a retry, and in any run with a name, as the first of them
     * looks like one that starts again. Reads once.
     */
    recall(): Promise<void> {
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
    /** Stores the memory, merged with what another run has stored since. False if the task is over. */
    remember(): Promise<boolean> {
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
