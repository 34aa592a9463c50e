import { expect, test } from 'vitest';
import { byDocumentClient } from '../../functions/tasks/aws/dynamodb.ts';
import type { TaskRecord } from '../../functions/tasks/record.ts';
import { taskStore } from '../../functions/tasks/table/store.ts';
import type { Change } from '../../functions/tasks/transitions/change.ts';
import type { Referee } from './referee.ts';
import { AWKWARD, newTask } from './tasks.ts';

const KB = 1_024;
const changing = (set: Change['set']): Change => ({ from: ['working'], round: 1, set });
const refused = { name: 'ValidationException' };
const tooLarge = { ...refused, message: expect.stringMatching(/size.*exceeded/i) };

export function valuesContract(referee: () => Referee): void {
  const store = () => referee().store;
  /** A store on the client of the AWS SDK, whose errors have DynamoDB's message. The server's errors never do. */
  const outspoken = () => taskStore(byDocumentClient(referee().db), referee().table);

  test('text comes back unchanged: digits beyond 2^53, escapes, every script, empty', async () => {
    const texts = [
      '{"id":9007199254740993,"pi":3.14159265358979323846,"big":1E400}',
      '',
      '\u0000\u001f',
      '\ufeff',
      ...AWKWARD,
    ];
    for (const text of texts) {
      const record = newTask({ status: 'completed', result: text, statusMessage: text, error: text });
      await store().create(record);
      expect(await store().get(record)).toStrictEqual(record);
    }
  });

  test.each([0, -1, 0.1, 1 / 3, 1e-7, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])(
    'the number %d comes back unchanged',
    async (number) => {
      const record = newTask({ progress: number });
      await store().create(record);
      expect((await store().get(record))?.progress).toBe(number);
      const change = changing({ progress: number, progressTotal: number });
      expect(await store().apply(record, change)).toMatchObject({ progress: number, progressTotal: number });
    },
  );

  test.each([Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 1e300])(
    'the number %d is refused, not changed',
    async (number) => {
      const record = newTask();
      await store().create(record);
      const change = changing({ progress: number });
      await expect(store().applyBlind(record, change)).rejects.toThrow();
      expect(await store().get(record)).toEqual(record);
    },
  );

  test('an item over 400 KB is an error, not a lost condition: nothing changes', async () => {
    const record = newTask();
    const huge: TaskRecord = { ...record, result: 'x'.repeat(400 * KB) };
    await expect(store().create(huge)).rejects.toMatchObject(refused);
    await expect(outspoken().create(huge)).rejects.toMatchObject(tooLarge);
    expect(await store().get(record)).toBeUndefined();

    const half: TaskRecord = { ...record, arguments: 'x'.repeat(200 * KB) };
    await store().create(half);
    const change = changing({ digest: 'x'.repeat(200 * KB) });
    await expect(store().apply(record, change)).rejects.toMatchObject(refused);
    await expect(outspoken().apply(record, change)).rejects.toMatchObject(tooLarge);
    await expect(store().applyBlind(record, change)).rejects.toMatchObject(refused);
    await expect(outspoken().applyBlind(record, change)).rejects.toMatchObject(tooLarge);
    expect(await store().get(record)).toEqual(half);
  });

  test('an item just below 400 KB is fine', async () => {
    const record = newTask({ arguments: 'x'.repeat(200 * KB) });
    await store().create(record);
    const digest = 'x'.repeat(199 * KB);
    expect(await store().apply(record, changing({ digest }))).toEqual({ ...record, digest });
  });

  test('characters count as their bytes', async () => {
    const record = newTask({ arguments: 'é'.repeat(100 * KB) });
    await store().create(record);
    await expect(store().apply(record, changing({ digest: 'é'.repeat(100 * KB) }))).rejects.toMatchObject(refused);
    await expect(outspoken().apply(record, changing({ digest: 'é'.repeat(100 * KB) }))).rejects.toMatchObject(tooLarge);
    expect(await store().get(record)).toEqual(record);
  });
}
