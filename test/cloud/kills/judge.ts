import { isDeepStrictEqual } from 'node:util';
import type { Look, Message } from './client.ts';
import type { Story } from './scenarios.ts';

const show = (value: unknown) => JSON.stringify(value);
const content = ({ outcome }: Look) => (outcome as Message)?.structuredContent;
const crashed = ({ status, outcome }: Look) =>
  status === 'failed' && (outcome as Message)?.data?.reason === 'Runtime.ExitError';
/** Whether a task ended right, and after how many runs of its tool. Tools with side effects count their runs. */
const right: Readonly<Record<Story['kind'], (look: Look, story: Story, runs: number) => boolean>> = {
  short: (look, { call }) => content(look)?.call === call || crashed(look),
  // Begun, and not ended: its outcome is unknown, so it fails.
  once: (look, _, runs) => (crashed(look) ? runs <= 1 : content(look)?.attempt === 0 && runs === 1),
  // Tried three times at most; it may die before it has said that it runs.
  repeat: (look, _, runs) => (crashed(look) ? runs >= 2 : runs >= 1 && runs <= content(look)?.attempt + 1),
  ask: (look, { call }) => isDeepStrictEqual(content(look)?.content, { ok: true, call }) || crashed(look),
  // One that asks has run, and may have died before the cancel.
  cancel: (look) => look.status === 'cancelled' || crashed(look),
  result: (look) => content(look)?.version === 'first-version',
};

/** All that must not be. `last`: how each task is after the last restart. */
export function judge(
  stories: readonly Story[],
  last: ReadonlyMap<string, Look>,
  runsOf: (call: number) => number,
): string[] {
  return stories.flatMap((story) => {
    const { kind, call, taskIds, ends } = story;
    const name = `${kind} ${call} (${[...taskIds].join(', ')})`;
    const wrong = taskIds.size === 1 ? [] : [`${name}: ${taskIds.size} tasks`];
    for (const taskId of taskIds) {
      const look = last.get(taskId);
      if (look === undefined) return [`${name} is gone`];
      for (const end of ends) {
        if (!isDeepStrictEqual(end, look)) wrong.push(`${name} was ${show(end)}, is ${show(look)}`);
      }
      if (!right[kind](look, story, runsOf(call))) {
        wrong.push(`${name}, ${story.acknowledged ?? 'nothing'} acknowledged, ${runsOf(call)} runs: ${show(look)}`);
      }
    }
    return wrong;
  });
}
