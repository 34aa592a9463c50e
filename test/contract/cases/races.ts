import { expect, test } from 'vitest';
import { failure } from '../../../functions/tasks/failures.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { answer } from '../../../functions/tasks/transitions/answers.ts';
import { askFirst } from '../../../functions/tasks/transitions/begin.ts';
import type { Change } from '../../../functions/tasks/transitions/change.ts';
import { cancel, fail } from '../../../functions/tasks/transitions/end.ts';
import { applied } from '../../functions/tasks/applied.ts';
import type { Referee } from '../referee.ts';
import { newOwner, newTask, now } from '../tasks.ts';

const AT_ONCE = 50;

export function racesContract(referee: () => Referee): void {
  const store = () => referee().store;
  const asking = () => newTask({ status: 'input_required', asked: '{"inputRequests":{}}', arguments: '{}' });

  /** Makes all changes at once. Returns the changes that won, each with its record. */
  async function race(record: TaskRecord, changes: readonly Change[]) {
    await store().create(record);
    const results = await Promise.all(changes.map((change) => store().apply(record, change)));
    return results.flatMap((left, i) => (left === undefined ? [] : [{ left, change: changes[i] }]));
  }

  test(`of ${AT_ONCE} ways to end a task exactly one wins, and stays (C-10, C-27)`, async () => {
    const record = newTask();
    const ways: ((i: number) => Change)[] = [
      (i) => cancel(now + i),
      (i) => fail(failure('ToolFailed', { reason: `failure ${i}` }), now),
      (i) => ({ from: ['working'], round: 1, set: { status: 'completed', result: String(i) }, remove: ['due'] }),
      (i) => askFirst(record, `{"inputRequests":{"q${i}":{}}}`, '{}', now),
    ];
    const changes = Array.from({ length: AT_ONCE }, (_, i) => (ways[i % ways.length] ?? cancel)(i));
    // A question does not end the task: a change decided on a working task may still come second.
    const won = await race(
      record,
      changes.filter(({ set }) => set.status !== 'input_required'),
    );
    expect(won).toHaveLength(1);
    expect(won[0]?.left).toEqual(won[0]?.change && applied(record, won[0].change));
    expect(await store().get(record)).toEqual(won[0]?.left);

    const other = newTask();
    const wonThere = await race(other, changes);
    const ends = wonThere.filter(({ left }) => left.status !== 'input_required');
    expect(wonThere.filter(({ left }) => left.status === 'input_required').length).toBeLessThanOrEqual(1);
    expect(ends).toHaveLength(1);
    expect(await store().get(other)).toEqual(ends[0]?.left);
  });

  test(`of ${AT_ONCE} last answers exactly one starts the next round (C-22, F-09)`, async () => {
    const record = asking();
    const changes = Array.from({ length: AT_ONCE }, (_, i) => answer(record, ['r1.a'], { 'r1.a': String(i) }, now));
    const won = await race(record, changes);
    expect(won).toHaveLength(1);
    expect(await store().get(record)).toEqual(won[0]?.left);
    expect(won[0]?.left).toMatchObject({ status: 'working', round: 2 });
  });

  test('of partial answers to the same record one wins; the others read again, none is lost', async () => {
    const record = asking();
    await store().create(record);
    const keys = Array.from({ length: 10 }, (_, i) => `r1.${i}`);
    await Promise.all(
      keys.map(async (key) => {
        for (let attempt = 0; attempt < keys.length; attempt++) {
          const seen = (await store().get(record)) ?? record;
          const open = keys.filter((name) => !Object.hasOwn(seen.inputResponses ?? {}, name));
          if ((await store().apply(record, answer(seen, open, { [key]: `"${key}"` }, now))) !== undefined) return;
        }
        throw new Error(`the answer ${key} lost every time`);
      }),
    );
    const inputResponses = Object.fromEntries(keys.map((key) => [key, `"${key}"`]));
    expect(await store().get(record)).toMatchObject({ status: 'working', round: 2, inputResponses });
  });

  test(`of ${AT_ONCE} creates with one key exactly one is the task`, async () => {
    const record = newTask();
    const twins = Array.from({ length: AT_ONCE }, (_, i) => ({ ...record, tool: `tool ${i}` }));
    const created = await Promise.all(twins.map((twin) => store().create(twin)));
    expect(created.filter(Boolean)).toHaveLength(1);
    expect(await store().get(record)).toEqual(twins[created.indexOf(true)]);
  });

  test(`of ${AT_ONCE} tasks that want the last ten slots ten get one (C-37)`, async () => {
    const owner = newOwner();
    const keys = Array.from({ length: AT_ONCE }, () => newTask({}, owner));
    const got = await Promise.all(keys.map((key) => store().takeSlot(key, 10, now, Math.ceil(now / 1_000) + 60)));
    expect(got.filter(Boolean)).toHaveLength(10);
  });
}
