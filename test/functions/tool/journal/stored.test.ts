import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Entry } from '../../../../functions/tasks/table/journal-items.ts';
import { storedJournal } from '../../../../functions/tool/journal/stored.ts';
import { onStandard } from './support.ts';

// What it replaces may already be loaded: test files share a process.
vi.hoisted(() => vi.resetModules());

const s3 = vi.hoisted(() => ({ objects: new Map<string, string>(), fails: '', order: [] as string[] }));
vi.mock('../../../../functions/tasks/results/large-result.ts', async () => {
  const { ResultStoreError, objectKey } = await import('../../../../functions/tasks/results/result-store.ts');
  type Key = Parameters<typeof objectKey>[0];
  const bucketStore = () => ({
    async put(key: Key, text: string) {
      s3.order.push('object');
      if (s3.fails !== '') throw new ResultStoreError('stored', s3.fails);
      s3.objects.set(objectKey(key), text);
    },
    async get(key: Key) {
      if (s3.fails !== '') throw new ResultStoreError('read', s3.fails);
      const text = s3.objects.get(objectKey(key));
      if (text === undefined) throw new ResultStoreError('read', 'NoSuchKey');
      return text;
    },
  });
  return { bucketStore };
});
const table = vi.hoisted(() => ({ written: [] as object[], deadlines: [] as number[] }));
vi.mock('../../../../functions/tasks/table/store.ts', () => ({
  runStore: () => ({
    async writeEntry({ deadline }: { deadline: number }, entry: object) {
      s3.order.push('item');
      table.deadlines.push(deadline);
      return table.written.push(entry) > 0;
    },
  }),
}));

vi.stubEnv('AWS_REGION', 'eu-west-1');
beforeEach(() => {
  s3.objects.clear();
  s3.fails = '';
  for (const list of [s3.order, table.written, table.deadlines]) list.length = 0;
});
const replaced = (change: (text: string) => string) => {
  for (const [key, text] of s3.objects) s3.objects.set(key, change(text));
};
const named = (name: string) => expect.objectContaining({ name });
const entry = (bytes: number): Entry => ({ kind: 'step', name: 's', value: JSON.stringify('x'.repeat(bytes - 2)) });

describe('a value', () => {
  test('of 4,000 bytes lies in its item, a larger one in S3, which is written first', async () => {
    const small = entry(4_000);
    expect(await storedJournal.write(onStandard, small)).toEqual(small);
    const large = { ...entry(4_001), variables: '{}', round: 1, order: 1 };
    const written = await storedJournal.write(onStandard, large);
    const { value: _, ...rest } = large;
    expect(written).toEqual({ ...rest, bytes: 4_001, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(table.written).toEqual([small, written]);
    expect(s3.order).toEqual(['item', 'object', 'item']);
    expect([...s3.objects.keys()]).toEqual([`steps/${owner}/t/${written?.sha256}`]);
    expect(await storedJournal.largeValue(onStandard, written as Entry)).toBe(large.value);
  });

  test('of a pass lies in its item: each run reads all passes with the journal', async () => {
    const pass: Entry = { ...entry(26_000), kind: 'pass', name: '0' };
    expect(await storedJournal.write(onStandard, pass)).toEqual(pass);
    expect(s3.order).toEqual(['item']);
  });

  test('that S3 refuses lies in the item, up to 100 KB', async () => {
    s3.fails = 'SlowDown';
    expect(await storedJournal.write(onStandard, entry(100_000))).toEqual(entry(100_000));
    await expect(storedJournal.write(onStandard, entry(100_001))).rejects.toEqual(named('ResultStoreError'));
    expect(table.written).toEqual([entry(100_000)]);
  });

  test.each([
    ['is gone', () => s3.objects.clear()],
    ['is another text', () => replaced((text) => text.replace('x', 'y'))],
    ['is longer', () => replaced((text) => `${text} `)],
    // What S3 says of a missing object to a role that may not list the bucket.
    ['may not be read', () => Object.assign(s3, { fails: 'AccessDenied' })],
  ])('that %s is StepLost', async (_what, change) => {
    const written = await storedJournal.write(onStandard, entry(5_000));
    change();
    await expect(storedJournal.largeValue(onStandard, written as Entry)).rejects.toEqual(named('StepLost'));
  });

  test('that cannot be read for another reason is not lost', async () => {
    const written = await storedJournal.write(onStandard, entry(5_000));
    s3.fails = 'TimeoutError';
    await expect(storedJournal.largeValue(onStandard, written as Entry)).rejects.toEqual(named('ResultStoreError'));
  });
});

test('an entry lives as long as its task, also if its run ends sooner, as on Express', async () => {
  await storedJournal.write({ ...onStandard, deadline: 1 }, entry(3));
  await storedJournal.write({ ...onStandard, deadline: 1, taskDeadline: 2 }, entry(3));
  expect(table.deadlines).toEqual([1, 2]);
});

/** The SHA-256 of "o". */
const owner = '65c74c15a686187bb6bbf9958f494fc6b80068034a659a9ad44991b08c58f2d2';
