import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import type { CountedStream } from '../../functions/tasks/table/stream-count.ts';
import type { Referee } from './referee.ts';
import { newOwner } from './tasks.ts';

const LONGEST = 50_000;
/** When a window begins. */
const T0 = 34_000_000 * LONGEST;

/** The item that counts the requests an owner keeps waiting. */
export function streamsContract(referee: () => Referee): void {
  const open = (owner: string, now = T0, most = 3) => referee().store.openStream(owner, most, now, LONGEST);
  const close = (stream: CountedStream | undefined) => {
    if (stream === undefined) throw new Error('it was not opened');
    return referee().store.closeStream(stream);
  };
  const counted = async (owner: string) => {
    const { db, table } = referee();
    const { Item } = await db.send(
      new GetCommand({ TableName: table, Key: { owner: `counts#${owner}`, taskId: '#streams' } }),
    );
    return Item;
  };

  describe('the streams of an owner (C-37)', () => {
    test('have a limit, and another owner has others', async () => {
      const owner = newOwner();
      for (let i = 0; i < 3; i++) expect(await open(owner)).toEqual({ owner, window: T0 });
      expect(await open(owner)).toBeUndefined();
      expect(await open(newOwner())).toBeDefined();
      expect(await open(owner, T0, 4)).toBeDefined();
    });

    test('are fewer once one is closed', async () => {
      const owner = newOwner();
      const [one] = [await open(owner), await open(owner), await open(owner)];
      await close(one);
      expect(await open(owner)).toBeDefined();
      expect(await open(owner)).toBeUndefined();
    });

    test('count until the window after theirs is over, whether they are closed or not', async () => {
      const owner = newOwner();
      await open(owner, T0 + 1);
      await open(owner, T0 + LONGEST - 1);
      const third = await open(owner, T0 + LONGEST);
      expect(third).toEqual({ owner, window: T0 + LONGEST });
      expect(await open(owner, T0 + 2 * LONGEST - 1)).toBeUndefined();
      // The two of the first window are over by now, the third one need not be.
      for (let i = 0; i < 2; i++) expect(await open(owner, T0 + 2 * LONGEST)).toBeDefined();
      expect(await open(owner, T0 + 2 * LONGEST)).toBeUndefined();
    });

    test('are closed in the window after theirs, and later without effect', async () => {
      const owner = newOwner();
      const early = [await open(owner), await open(owner), await open(owner)];
      expect(await open(owner, T0 + LONGEST)).toBeUndefined();
      await close(early[0]);
      expect(await open(owner, T0 + LONGEST)).toBeDefined();
      expect(await open(owner, T0 + LONGEST)).toBeUndefined();
      for (let i = 0; i < 2; i++) expect(await open(owner, T0 + 2 * LONGEST)).toBeDefined();
      await close(early[1]);
      expect(await open(owner, T0 + 2 * LONGEST)).toBeUndefined();
    });

    test('are forgotten after a pause; a clock that is behind counts in the newer window', async () => {
      const owner = newOwner();
      for (let i = 0; i < 3; i++) await open(owner);
      expect(await open(owner, T0 + 9 * LONGEST)).toEqual({ owner, window: T0 + 9 * LONGEST });
      expect(await open(owner, T0 + 9 * LONGEST - 1)).toEqual({ owner, window: T0 + 9 * LONGEST });
      expect(await counted(owner)).toEqual({
        ...{
          owner: `counts#${owner}`,
          taskId: '#streams',
          window: T0 + 9 * LONGEST,
          held: 2,
          [`n${T0 + 9 * LONGEST}`]: 2,
        },
        expiresAt: (T0 + 9 * LONGEST + 3 * LONGEST) / 1_000,
      });
    });

    test('opened at once in a new window keep to the limit', async () => {
      const owner = newOwner();
      await open(owner);
      const now = T0 + LONGEST;
      const opened = await Promise.all(Array.from({ length: 12 }, () => open(owner, now, 10)));
      expect(opened.filter((stream) => stream !== undefined)).toHaveLength(9);
      expect((await counted(owner))?.held).toBe(10);
    });
  });

  test('refused calls of an owner are counted beside its streams, for two windows at most (C-37)', async () => {
    const owner = newOwner();
    const refuse = (now: number) => referee().store.countRefused(owner, 2, now, LONGEST);
    for (let i = 0; i < 3; i++) await open(owner);
    expect([await refuse(T0), await refuse(T0), await refuse(T0 + LONGEST)]).toEqual([true, true, false]);
    expect(await refuse(T0 + 2 * LONGEST)).toBe(true);
    expect((await counted(owner))?.held).toBe(3);
  });

  test.each(['countList', 'countState'] as const)(
    '%s: each owner has a count of its own, for two windows (E-29)',
    async (count) => {
      const owner = newOwner();
      const list = (now: number) => referee().store[count](owner, 2, now, LONGEST);
      for (let i = 0; i < 3; i++) await open(owner);
      expect([await list(T0), await list(T0), await list(T0 + 1)]).toEqual([true, true, false]);
      expect([await list(T0 + LONGEST), await list(T0 + 2 * LONGEST)]).toEqual([false, true]);
      expect((await counted(owner))?.held).toBe(3);
    },
  );
}
