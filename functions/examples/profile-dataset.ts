import { setImmediate as breathe } from 'node:timers/promises';
import type { TaskContext, ToolEvent, ToolResult, ToolReturn } from '../tool/contract.ts';
import { reportProgress } from '../tool/progress.ts';
import { InputProblem, Stopped } from './profile/errors.ts';
import { profileTable } from './profile/profile.ts';
import { render } from './profile/render.ts';
import { type Report, stretch } from './profile/report.ts';
import { openSource, type SourceArguments } from './profile/source.ts';
import { readTable, type TableOptions } from './profile/table.ts';

export interface ProfileArguments extends SourceArguments, TableOptions {
  readonly bootstrap?: number | undefined;
}

const DEFAULT_RESAMPLES = 500;

/** Profiles a CSV. What the caller can put right comes back as a result with `isError`; anything else is thrown. */
export async function handler(event: ToolEvent<ProfileArguments>): Promise<ToolReturn> {
  try {
    return await profile(event.arguments, reporter(event.task));
  } catch (error) {
    if (error instanceof InputProblem) return failure(error.message);
    if (error instanceof Stopped) return failure('Stopped: the task was cancelled or taken over.');
    throw error;
  }
}

async function profile(args: ProfileArguments, report: Report): Promise<ToolResult> {
  const source = await openSource(args, stretch(report, 0, 0.05));
  const table = await readTable(source.data, args, stretch(report, 0.05, 0.3));
  const result = await profileTable(table, args.bootstrap ?? DEFAULT_RESAMPLES, stretch(report, 0.3, 1));
  const { text, structured } = render(source.title, result);
  return { content: [{ type: 'text', text }], structuredContent: structured };
}

/** Progress doubles as the check whether the task is still ours, and as the pause in which other events run. */
function reporter(task: TaskContext | undefined): Report {
  return async (message, done) => {
    await breathe();
    const ours = await reportProgress(task, message, { progress: Math.round(done * 1000) / 10, total: 100 });
    if (!ours) throw new Stopped();
  };
}

function failure(text: string): ToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
