import type { TaskStatusChange } from '../../functions/task-events/status-change.ts';
import type { TaskRecord } from '../../functions/tasks/record.ts';
import { canMove, isTerminal } from '../../functions/tasks/transitions/change.ts';
import type { AcceptedEvent } from '../../local/testing.ts';

type Measured = Readonly<Record<string, unknown>>;

/** What the server told of its tasks. */
export interface Told {
  /** As the bus accepted them, repeats included. */
  readonly events: readonly AcceptedEvent[];
  /** Lines in CloudWatch's embedded metric format, repeats included. */
  readonly metrics: readonly Measured[];
}

/** One EMF line of a change. Undefined for any other line of a log. */
export function measuredIn(line: string): Measured | undefined {
  return line.startsWith('{"_aws"') && line.includes('"Change"') ? JSON.parse(line) : undefined;
}

const ENDS = { completed: 'Completed', failed: 'Failed', cancelled: 'Cancelled' } as const;

/**
 * What is missing or wrong in what was published. Each change of a task is published once, if repeats are counted by their id;
 * its end is the record's; the metrics add up to the records. To be judged once the stream is read to its end.
 */
export function judgeTold(
  records: ReadonlyMap<string, TaskRecord>,
  { events, metrics }: Told,
  since: number,
): string[] {
  const changes = new Map<string, TaskStatusChange>();
  for (const { event } of events) {
    const change = event.detail as unknown as TaskStatusChange;
    if (event.source === 'mcp-task-server' && Date.parse(change.createdAt) >= since) changes.set(change.id, change);
  }
  const byTask = Map.groupBy(changes.values(), ({ taskId }) => taskId);
  const found: string[] = [];
  const untold = (what: string) => found.push(what);
  for (const record of records.values()) {
    const story = byTask.get(record.taskId) ?? [];
    byTask.delete(record.taskId);
    const wrong = wrongIn(story, record);
    if (wrong !== undefined) untold(`${record.taskId} is ${record.status}; ${wrong}: ${JSON.stringify(story)}`);
  }
  // A task that never started is deleted at once, and no reader sees it.
  for (const [taskId, story] of byTask) {
    if (story.at(-1)?.reason !== 'Unavailable') untold(`${taskId} was told of, and has no record`);
  }
  return [...found, ...wrongSums(changes, metrics, since)];
}

function wrongIn(story: readonly TaskStatusChange[], record: TaskRecord): string | undefined {
  const [first, ...rest] = story;
  if (first?.status !== 'working' || first.previousStatus !== undefined) return 'it was not told that it is new';
  let before = first;
  for (const change of rest) {
    if (change.previousStatus !== before.status) return `${change.id} does not follow ${before.id}`;
    if (!canMove(before.status as TaskRecord['status'], change.status as TaskRecord['status'])) return 'no such move';
    before = change;
  }
  if (isTerminal(record.status) && before.status !== record.status) return 'its end was not told';
  return before.status === 'completed' && before.isError !== (record.isError || undefined)
    ? 'isError differs'
    : undefined;
}

/** By the ids of the changes: the same ones are counted as are published on the bus. */
function wrongSums(changes: ReadonlyMap<string, TaskStatusChange>, metrics: readonly Measured[], since: number) {
  const lines = new Map<string, Measured>();
  for (const line of metrics) {
    const [, createdAt] = String(line.Change).split('/');
    if (Number(createdAt) >= since) lines.set(String(line.Change), line);
  }
  const sum = (name: string) => [...lines.values()].reduce((total, line) => total + Number(line[name] ?? 0), 0);
  const told = [...changes.values()];
  const expected = {
    Created: told.filter(({ previousStatus }) => previousStatus === undefined).length,
    ToolErrors: told.filter(({ isError }) => isError).length,
    ...Object.fromEntries(
      Object.entries(ENDS).map(([end, name]) => [name, told.filter(({ status }) => status === end).length]),
    ),
  };
  return Object.entries(expected).flatMap(([name, count]): string[] =>
    sum(name) === count ? [] : [`the metric ${name} adds up to ${sum(name)}, not to ${count}`],
  );
}
