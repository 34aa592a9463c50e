import { onTestFinished, vi } from 'vitest';
import type { ToolEvent, Wait } from '../../../../functions/tasks/tool-contract.ts';
import { clockOf } from '../../../../functions/tool/clock.ts';
import type { Task } from '../../../../functions/tool/index.ts';
import { EndedRound } from '../../../../functions/tool/waits/ended-round.ts';
import { onStandard, sharedTable, event as toolEvent, toolOf } from '../journal/support.ts';

type ByName = NonNullable<EndedRound['waits']>;

export const NOON = Date.UTC(2027, 0, 1, 12);
export const [SECOND, MINUTE, DAY] = [1_000, 60_000, 86_400_000];

/** One task whose runs share a table and a clock, which only sleeps and the test move. */
export function waitingTask(run: (task: Task) => unknown, given: Partial<ToolEvent> = {}) {
  const table = sharedTable();
  const slept: number[] = [];
  const clock = {
    ...clockOf(),
    time: NOON,
    rest: Number.POSITIVE_INFINITY,
    now: () => clock.time,
    left: () => clock.rest,
    async sleep(ms: number) {
      slept.push(ms);
      clock.time += ms;
      clock.rest -= ms;
    },
  };
  let round = 0;
  return {
    ...{ table, clock, slept },
    /** Plays the next round. */
    async next(more: Partial<ToolEvent> = {}, task: object = {}): Promise<{ result?: unknown; waits?: ByName }> {
      round++;
      const event = toolEvent({ ...onStandard, round, deadline: NOON + 30 * DAY, envelope: 1, ...task });
      const ended = await toolOf(run).runWith({ ...event, ...given, ...more }, table.context, clock);
      return ended instanceof EndedRound
        ? { ...ended.asked, ...(ended.waits && { waits: ended.waits }) }
        : { result: ended };
    },
  };
}

export const time = (until: number): Wait => ({ kind: 'time', until });

/** For this test, its timers run only as it says. */
export function fakeTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}
