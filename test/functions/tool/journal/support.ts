import { limits } from '../../../../functions/tasks/limits.ts';
import type { Entry } from '../../../../functions/tasks/table/journal-items.ts';
import { memoryFiles } from '../../../../functions/tool/files/testing.ts';
import { defineTool, type Task, type ToolEvent } from '../../../../functions/tool/index.ts';
import { type JournalPort, memoryJournal } from '../../../../functions/tool/journal/port.ts';
import type { Amount, RunContext } from '../../../../functions/tool/run-context.ts';

type TaskContext = NonNullable<ToolEvent['task']>;

const round: TaskContext = { taskId: 't', owner: 'o', table: 'x', results: 'r', round: 1, attempt: 0, deadline: 0 };
export const onStandard = { ...round };
/** A run that starts again on Express is at attempt 0, too. */
export const onExpress = (run = 'a'): TaskContext => ({ ...round, run });

export const event = (task: ToolEvent['task'], requestState: unknown = null): ToolEvent => ({
  ...{ name: 't', arguments: {}, accepts: [], inputResponses: {}, requestState },
  ...(task && { task }),
});

export const toolOf = (run: (task: Task) => unknown) =>
  defineTool({ description: 'd', inputSchema: { type: 'object' }, files: true }, (_args, task) => run(task) as object);

/** What the table does for the runs of one task (functions/tasks/table/journal-items.ts). */
export function sharedTable(more: Partial<JournalPort> = {}) {
  const calls: string[] = [];
  const reports: ({ readonly message: string } & Amount)[] = [];
  const stored: Record<string, Entry> = {};
  const memory = memoryJournal(() => {
    const { progress, total } = reports.at(-1) ?? {};
    return progress === undefined ? undefined : { progress, ...(total !== undefined && { total }) };
  });
  const journal: JournalPort = {
    ...memory,
    async read(task) {
      calls.push('read');
      return memory.read(task);
    },
    async entry(task, id) {
      calls.push(`entry ${id.name}`);
      return memory.entry(task, id);
    },
    async write(task, entry, before) {
      calls.push(`write ${entry.name}`);
      const written = await memory.write(task, entry, before);
      if (written !== undefined) stored[entry.name] = written;
      return written;
    },
    async writePlace(_task, place) {
      calls.push(`place ${place}`);
    },
    ...more,
  };
  const context: RunContext = {
    async progress(_task, message, amount) {
      reports.push({ message, ...amount });
      return true;
    },
    alive: async () => true,
    journal,
    files: memoryFiles(),
    keep: async (_task, result) => result,
  };
  return { calls, reports, stored, memory, context, steps: () => Object.keys(stored).toSorted() };
}

export const { journal: bounds } = limits;
