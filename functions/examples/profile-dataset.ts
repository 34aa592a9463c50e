import { setImmediate as breathe } from 'node:timers/promises';
import { defineTool, type Task } from 'mcp-task-server/tool';
import { profileDataset } from './profile/definition.ts';
import { profileTable } from './profile/profile.ts';
import { render } from './profile/render.ts';
import { type Report, stretch } from './profile/report.ts';
import { openSource } from './profile/source/source.ts';
import { readTable } from './profile/table/table.ts';
import { shorten } from './profile/words.ts';

/** Profiles a CSV. What the caller can put right is a ToolError; anything else fails the task. */
export const handler = defineTool(profileDataset, async (args, task) => {
  const report = reporter(task);
  const source = await openSource(args, stretch(report, 0, 0.05), task);
  const table = await readTable(source.data, args, stretch(report, 0.05, 0.3));
  const profile = await profileTable(table, args.bootstrap ?? 500, stretch(report, 0.3, 1));
  const { text, structured } = render({ source: shorten(source.title, 300), ...profile });
  return { content: [{ type: 'text', text }], structuredContent: structured };
});

/** The computing keeps the task from hearing of its cancellation, so it pauses at each report. */
function reporter(task: Task): Report {
  return async (message, done = 0) => {
    await breathe();
    task.signal.throwIfAborted();
    await task.progress(message, { progress: Math.round(done * 1000) / 10, total: 100 });
  };
}
