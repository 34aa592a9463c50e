import { expect, test } from 'vitest';
import { hasNewEvents, newEvents } from '../../../functions/events/new-events.ts';
import type { NewEvent, NewIn } from '../../../functions/tasks/table/events/log.ts';
import { finished, OWNER, START } from './support.ts';

interface Put {
  readonly task: string;
  readonly n: number;
  readonly into: NewIn;
  /** Before the read of this number. */
  readonly at: number;
}
interface Read {
  readonly of: NewIn;
  readonly found: readonly NewEvent[];
}

const PARTITIONS: readonly NewIn[] = ['first', 'second'];
const place = (n: number) => String(n).padStart(40, '0');

/** Two events of a task, into any partitions, before any of the first reads: the second one later than the first. */
function putsOf(task: string, [a, b]: readonly [number, number]): readonly (readonly [Put, Put])[] {
  const times = [0, 1, 2, 3, 4].flatMap((one) => [0, 1, 2, 3, 4].filter((at) => at >= one).map((at) => [one, at]));
  return times.flatMap(([first = 0, second = 0]) =>
    PARTITIONS.flatMap((one) =>
      PARTITIONS.map(
        (other) =>
          [
            { task, n: a, into: one, at: first },
            { task, n: b, into: other, at: second },
          ] as const,
      ),
    ),
  );
}

/** The order in which events come out. @param change what a read finds */
async function orderOf(puts: readonly Put[], most: number, change?: (reads: readonly Read[]) => readonly NewEvent[]) {
  const left = [...puts];
  const tables: Record<NewIn, NewEvent[]> = { first: [], second: [] };
  const order: number[] = [];
  let count = 0;
  let reads: Read[] = [];
  const items = {
    async newEvents(_owner: string, limit: number, of: NewIn) {
      for (const one of left.filter(({ at }) => at <= count)) {
        left.splice(left.indexOf(one), 1);
        tables[one.into].push({ place: place(one.n), at: START, event: finished(one.n, { taskId: one.task }) });
      }
      count++;
      const found = tables[of].toSorted((x, y) => x.place.localeCompare(y.place)).slice(0, limit);
      reads = [...reads, { of, found }];
      return change?.(reads) ?? found;
    },
  };
  for (;;) {
    reads = [];
    if (left.length === 0 && !(await hasNewEvents(items, OWNER))) return order;
    reads = [];
    for (const { place: taken, of } of await newEvents(items, OWNER, most)) {
      order.push(Number(taken));
      tables[of] = tables[of].filter((one) => one.place !== taken);
    }
  }
}

/** How many of all orders of puts and reads turn the events of a task round. */
async function turned(change?: Parameters<typeof orderOf>[2]): Promise<{ runs: number; turned: number }> {
  const sums = { runs: 0, turned: 0 };
  for (const most of [1, 2, 25])
    for (const a of putsOf('a', [3, 4]))
      for (const b of putsOf('b', [1, 2])) {
        const order = await orderOf([...a, ...b], most, change);
        expect(order.toSorted()).toEqual([1, 2, 3, 4]);
        sums.runs += 1;
        if (order.indexOf(3) > order.indexOf(4) || order.indexOf(1) > order.indexOf(2)) sums.turned += 1;
      }
  return sums;
}

test('events of a task never turn round, whichever partition each is in, and whenever it comes', async () => {
  expect(await turned()).toEqual({ runs: 10_800, turned: 0 });
});

test('that is found out if the first partition is read once only', async () => {
  const once = (reads: readonly Read[]) => (reads.length > 2 ? [] : (reads.at(-1)?.found ?? []));
  expect((await turned(once)).turned).toBeGreaterThan(0);
});

test('what is in both partitions comes once at a time, and its second copy with the next look', async () => {
  expect(
    await orderOf(
      PARTITIONS.map((into) => ({ task: 'a', n: 1, into, at: 0 })),
      25,
    ),
  ).toEqual([1, 1]);
});
