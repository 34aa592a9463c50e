import { beforeEach, expect, test, vi } from 'vitest';
import { handler, type ProfileArguments } from '../../../functions/examples/profile-dataset.ts';
import { reportProgress } from '../../../functions/tool/progress.ts';

vi.mock('../../../functions/tool/progress.ts', () => ({ reportProgress: vi.fn() }));

// The bundler embeds this file; here it is read.
vi.mock('../../../functions/examples/profile/samples.ts', async () => {
  const { readFileSync } = await import('node:fs');
  const orders = readFileSync(new URL('../../../functions/examples/samples/orders.csv.gz', import.meta.url));
  return { samples: { orders } };
});

const task = { taskId: 't1', owner: 'o1', table: 'tasks', round: 1, attempt: 0, deadline: 0 };
const call = (args: ProfileArguments) =>
  handler({ name: 'profile_dataset', arguments: args, task, accepts: [], inputResponses: {}, requestState: null });

beforeEach(() => {
  vi.mocked(reportProgress).mockReset().mockResolvedValue(true);
});

test('profiles a small CSV', async () => {
  const result = await call({ csv: 'a;b\n1;2\n3;4\n', delimiter: ';' });
  expect(result).toMatchObject({
    content: [{ type: 'text', text: expect.stringContaining('2 rows, 2 columns') }],
    structuredContent: { source: 'the CSV sent', rows: 2, bootstrap: 500, columns: [{ mean: 2 }, { mean: 3 }] },
  });
  expect(result).not.toHaveProperty('isError');
});

test('profiles some columns of the shipped sample, with progress in percent', async () => {
  const result = await call({ sample: 'orders', columns: ['quantity', 'weight_kg', 'note'], bootstrap: 2 });
  expect(result).toMatchObject({
    structuredContent: {
      source: 'sample "orders"',
      rows: 100_000,
      columns: [
        { name: 'quantity', type: 'integer', missing: 0, distinct: 9, min: 1, max: 9 },
        { name: 'weight_kg', type: 'number', missing: 2_996, invalid: 418 },
        { name: 'note', type: 'string', distinct: 4 },
      ],
      correlations: [{ a: 'quantity', b: 'weight_kg' }],
    },
  });
  const calls = vi.mocked(reportProgress).mock.calls;
  expect(calls[0]).toEqual([task, 'Read 2,000 of 100,000 rows', { progress: 5.5, total: 100 }]);
  const percents = calls.map(([, , amount]) => amount?.progress ?? -1);
  expect(percents).toEqual(percents.toSorted((a, b) => a - b));
});

test('stops as soon as the task is no longer ours', async () => {
  vi.mocked(reportProgress).mockResolvedValueOnce(true).mockResolvedValue(false);
  const result = await call({ sample: 'orders' });
  expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('Stopped') }] });
  expect(reportProgress).toHaveBeenCalledTimes(2);
});

test.each([
  [{}, /exactly one of/],
  [{ csv: 'a,b\n1\n' }, /malformed/],
  [{ csv: 'a\n1\n', columns: ['b'] }, /No such column/],
  [{ url: 'https://127.0.0.1/x.csv' }, /not on the public internet/],
  [{ url: 'http://data.example/x.csv' }, /Only https/],
])('%o is a result that says what to do', async (args, message) => {
  expect(await call(args)).toEqual({
    isError: true,
    content: [{ type: 'text', text: expect.stringMatching(message) }],
  });
});

test('what the caller cannot put right is thrown', async () => {
  vi.mocked(reportProgress).mockRejectedValue(new TypeError('a bug'));
  await expect(call({ csv: 'a\n1\n' })).rejects.toThrow('a bug');
});
