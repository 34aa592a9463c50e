import { memoryFiles } from '../../../functions/tool/files/testing.ts';
import type { ToolEvent } from '../../../functions/tool/index.ts';
import { memoryJournal } from '../../../functions/tool/journal/port.ts';
import type { RunContext } from '../../../functions/tool/run-context.ts';

export const anything = { description: 'd', inputSchema: { type: 'object' } } as const;
export const accept = (content: object) => ({ action: 'accept', content });

export const event = (over: Partial<ToolEvent> = {}): ToolEvent => ({
  name: 't',
  arguments: {},
  task: { taskId: 't', owner: 'o', table: 'x', results: 'r', round: 1, attempt: 0, deadline: 0 },
  accepts: [],
  inputResponses: {},
  requestState: null,
  ...over,
});
/** A task in memory, as several attempts at one round see it. */
export function memoryContext(): RunContext & { alive_: boolean } {
  const context = {
    alive_: true,
    progress: async () => context.alive_,
    alive: async () => context.alive_,
    journal: memoryJournal(),
    files: memoryFiles(),
    keep: async (_task: unknown, result: unknown) => result,
  };
  return context as RunContext & { alive_: boolean };
}
