import { metricLines } from '../tasks/log.ts';
import type { TaskChange } from './changes.ts';
import type { Snapshot } from './snapshot.ts';

/** The metrics of one change, by tool and for the whole server. Times are in ms. docs/events.md lists them. */
export function measuresOf({ action, task, moved }: TaskChange): Readonly<Record<string, number>> {
  if (action === 'created') return { Created: 1 };
  if (action === 'input_asked') return { Asked: 1 };
  const end = moved && END[moved.to];
  if (end === undefined) return {};
  const waited = waitedFor(task);
  const toStart = startedAfter(task);
  return {
    [end]: 1,
    ...(task.isError && { ToolErrors: 1 }),
    TimeToEnd: Math.max(0, task.updatedAt - task.createdAt),
    ...(toStart !== undefined && { TimeToStart: toStart }),
    ...(waited > 0 && { TimeWaitingForInput: waited }),
  };
}

const END: Readonly<Partial<Record<Snapshot['status'], string>>> = {
  completed: 'Completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

interface Measured {
  readonly server: string;
  readonly metricsByTool: boolean;
}

export function measureLines(change: TaskChange, { server: Server, metricsByTool }: Measured): string[] {
  const { tool: Tool, updatedAt } = change.task;
  // `Change` is not a dimension: with it, a query of the log counts a change once, even if it was published twice.
  const members = { Server, Tool, Change: change.moved?.id ?? '' };
  return metricLines(measuresOf(change), members, updatedAt, [
    ['Server'],
    ...(metricsByTool ? [['Server', 'Tool']] : []),
  ]);
}

/** Time from the creation until the first workflow began; undefined if no workflow reported it. */
function startedAfter({ createdAt, events }: Snapshot): number | undefined {
  const first = events.find(({ startedAt }) => startedAt !== undefined);
  if (first?.startedAt === undefined || (first.round ?? 1) > 1) return undefined;
  return Math.max(0, first.startedAt - createdAt);
}

/** How long the task waited for answers: from each question to the last answer, or to the end. */
function waitedFor({ events, updatedAt, round }: Snapshot): number {
  let waited = 0;
  let asked: number | undefined;
  let askedIn = 0;
  let answered: number | undefined;
  const close = (until: number | undefined) => {
    if (asked !== undefined) waited += Math.max(0, (until ?? updatedAt) - asked);
    asked = undefined;
    answered = undefined;
  };
  for (const { what, at, round: of = 1 } of events) {
    if (what === 'asked') {
      // The answer to the one before may have left no event.
      if (answered !== undefined) close(answered);
      asked = at;
      askedIn = of;
    } else if (what === 'answered' && of === askedIn) answered = at;
  }
  // Its answer may have left no event.
  if (answered !== undefined || askedIn === round) close(answered);
  return waited;
}
