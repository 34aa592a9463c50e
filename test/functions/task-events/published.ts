import { publish, type TaskEventsContext } from '../../../functions/task-events/index.ts';
import { auditLine } from '../../../functions/tasks/audit.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';
import { after, type Change } from '../../../functions/tasks/transitions/change.ts';
import { streamRecord } from './images.ts';

export const T0 = 1_700_000_000_000;
/** When the stream got the writes. */
const WRITTEN = T0 + 60_000;
/** A text of a client or a tool. */
export const SECRET = 'planted-secret';
export const fresh = create(
  { owner: 'owner#ann', taskId: 't' },
  { tool: 'echo', ttl: 1_000, timeout: 600_000, accepts: ['roots/list'], legacy: false },
  T0,
);

/** What the function publishes of these writes, as the changes of a table are delivered. */
export async function published(
  writes: readonly (readonly [TaskRecord | undefined, TaskRecord | undefined])[],
  putEvents?: TaskEventsContext['putEvents'],
  age = 0,
  byTool = true,
  publishEvents?: TaskEventsContext['publishEvents'],
  summarized: readonly string[] = [],
  links?: TaskEventsContext['links'],
) {
  const [audit, metrics, resumed, entries]: [string[], string[], string[], object[]] = [[], [], [], []];
  const { batchItemFailures } = await publish(
    { Records: writes.map(([before, now], index) => streamRecord(before, now, index + 1, WRITTEN)) },
    {
      server: 'S',
      metricsByTool: byTool,
      publishEvents,
      summarized: new Set(summarized),
      links,
      resume: async ({ taskId }) => void resumed.push(taskId),
      now: () => WRITTEN + age,
      audit: (action, facts) => void audit.push(auditLine(action, facts)),
      print: (lines) => void metrics.push(...lines),
      putEvents: async (some) => {
        const accepted = (await putEvents?.(some)) ?? some.map(() => true);
        entries.push(...some.filter((_entry, index) => accepted[index]));
        return accepted;
      },
    },
  );
  return {
    audit: audit.map((line) => JSON.parse(line)),
    metrics: metrics.map((line) => JSON.parse(line)),
    details: entries.map((entry) => JSON.parse((entry as { Detail: string }).Detail)),
    entries,
    resumed,
    text: JSON.stringify([audit, metrics, entries]),
    failures: batchItemFailures.map(({ itemIdentifier }) => itemIdentifier),
  };
}

export const change = (record: TaskRecord, by: Change) => [record, after(record, by)] as const;
