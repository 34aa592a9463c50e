import { isDeepStrictEqual } from 'node:util';
import type { Message, Seen } from './client.ts';
import type { Story } from './scenarios.ts';

const show = (value: unknown) => JSON.stringify(value);
const content = ({ outcome }: Seen) => (outcome as Message)?.structuredContent;
const crashed = ({ status, outcome }: Seen) =>
  status === 'failed' && (outcome as Message)?.data?.reason === 'Runtime.ExitError';
/** Whether a task ended right, and after how many runs of its tool. Tools with side effects count their runs. */
const right: Readonly<Record<Story['kind'], (seen: Seen, story: Story, runs: number) => boolean>> = {
  short: (seen, { call }) => content(seen)?.call === call || crashed(seen),
  // It began and did not end: its outcome is unknown, so it fails.
  once: (seen, _, runs) => (crashed(seen) ? runs <= 1 : content(seen)?.attempt === 0 && runs === 1),
  // It has three tries at most, and may die before it has written that it runs.
  repeat: (seen, _, runs) => (crashed(seen) ? runs >= 2 : runs >= 1 && runs <= content(seen)?.attempt + 1),
  ask: (seen, { call }) => isDeepStrictEqual(content(seen)?.content, { ok: true, call }) || crashed(seen),
  // A task that asks has run, and may have died before the cancel.
  cancel: (seen) => seen.status === 'cancelled' || crashed(seen),
  result: (seen) => content(seen)?.version === 'first-version',
};

/** All violations. @param last the state of each task after the last restart */
export function judge(
  stories: readonly Story[],
  last: ReadonlyMap<string, Seen>,
  runsOf: (call: number) => number,
): string[] {
  return stories.flatMap((story) => {
    const { kind, call, taskIds, ends } = story;
    const name = `${kind} ${call} (${[...taskIds].join(', ')})`;
    const wrong = taskIds.size === 1 ? [] : [`${name}: ${taskIds.size} tasks`];
    for (const taskId of taskIds) {
      const seen = last.get(taskId);
      if (seen === undefined) return [`${name} is gone`];
      for (const end of ends) {
        if (!isDeepStrictEqual(end, seen)) wrong.push(`${name} was ${show(end)}, is ${show(seen)}`);
      }
      if (!right[kind](seen, story, runsOf(call))) {
        wrong.push(`${name}, ${story.acknowledged ?? 'nothing'} acknowledged, ${runsOf(call)} runs: ${show(seen)}`);
      }
    }
    return wrong;
  });
}
