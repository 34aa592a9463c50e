import { errorFacts, logEvent } from '../tasks/log.ts';
import type { RunKey } from '../tasks/table/run-items.ts';
import { signalUrl } from '../tasks/waits/signal-url.ts';
import { waitsOf } from '../tasks/waits/waits.ts';
import type { TaskChange } from './changes.ts';
import { SOURCE, type TaskStatusChange } from './status-change.ts';

/** The detail of a `Task Waits` on EventBridge: docs/events.md. */
export interface TaskWaits extends Pick<TaskStatusChange, 'version' | 'id' | 'server' | 'taskId' | 'owner' | 'tool'> {
  /** The name of the wait, as its tool gave it. */
  readonly wait: string;
  /** Opens the page with the question. Who has it can answer. */
  readonly url: string;
  /** ISO 8601, in UTC. */
  readonly until: string;
}

/** What publishing links needs from outside. */
export interface Links {
  /** The part of their URLs before the place. */
  readonly url: string;
  /**
   * Whether this change is the one that publishes the link of this name: the first whose round waits for it, however often that is
   * delivered. Throws errors of DynamoDB.
   */
  readonly publishes: (run: RunKey, name: string, change: string) => Promise<boolean>;
}

/** Entries of PutEvents, without the bus, for the links that no earlier round has waited for. */
export async function taskWaitsEntries({ task, moved }: TaskChange, server: string, links: Links): Promise<object[]> {
  const { owner, taskId, tool, status, round, hookKey: key, signalled, deadlineAt: deadline = 0, updatedAt } = task;
  if (moved === undefined || moved.to !== status || key === undefined) return [];
  const open = Object.entries(waitsOf(task) ?? {}).flatMap(([name, wait]) =>
    wait.kind === 'link' && !signalled.includes(name) ? [{ name, until: wait.until }] : [],
  );
  const entries = await Promise.all(
    open.map(async ({ name, until }) => {
      // All owners wait for this. Without the note, a later round publishes the link once more.
      const publishes = await links.publishes({ owner, taskId, round, deadline }, name, moved.id).catch((error) => {
        logEvent('links_failed', errorFacts(error));
        return true;
      });
      if (!publishes) return undefined;
      const detail: TaskWaits = {
        version: '1',
        id: `${moved.id}/${name}`,
        server,
        taskId,
        owner: owner.startsWith('task#') ? undefined : owner,
        tool,
        wait: name,
        url: signalUrl({ url: links.url, key }, name),
        until: new Date(until).toISOString(),
      };
      return { Source: SOURCE, DetailType: 'Task Waits', Detail: JSON.stringify(detail), Time: updatedAt / 1_000 };
    }),
  );
  return entries.flatMap((entry) => entry ?? []);
}
