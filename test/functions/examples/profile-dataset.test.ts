import { expect, test, vi } from 'vitest';
import type { ProfileArguments } from '../../../functions/examples/profile/definition.ts';
import { handler } from '../../../functions/examples/profile-dataset.ts';
import type { ToolEvent } from '../../../functions/tool/index.ts';
import { runTool } from '../../../functions/tool/testing.ts';

// Files share a process: another one may have loaded what is replaced here.
vi.hoisted(() => vi.resetModules());

// The bundler embeds this file; here it is read.
vi.mock('../../../functions/examples/profile/source/samples.ts', async () => {
  const { readFileSync } = await import('node:fs');
  const orders = readFileSync(new URL('../../../functions/examples/samples/orders.csv.gz', import.meta.url));
  return { samples: { orders } };
});

test('profiles a small CSV', async () => {
  const { result } = await runTool(handler, { csv: 'a;b\n1;2\n3;4\n', delimiter: ';' });
  expect(result).toMatchObject({
    content: [{ type: 'text', text: expect.stringContaining('2 rows, 2 columns') }],
    structuredContent: { source: 'the CSV sent', rows: 2, bootstrap: 500, columns: [{ mean: 2 }, { mean: 3 }] },
  });
  expect(result).not.toHaveProperty('isError');
});

test('profiles some columns of the shipped sample, with progress in percent', async () => {
  const args: ProfileArguments = { sample: 'orders', columns: ['quantity', 'weight_kg', 'note'], bootstrap: 2 };
  const { result, progress } = await runTool(handler, args);
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
  expect(progress[0]).toEqual({ message: 'Read 1,000 rows', progress: expect.closeTo(5, 0), total: 100 });
  const percents = progress.map((report) => report.progress ?? -1);
  expect(percents).toEqual(percents.toSorted((a, b) => a - b));
});

test('stops at the first report once the task is over', async () => {
  const { result, progress } = await runTool(handler, { sample: 'orders' }, { cancelInRound: 1 });
  expect(result).toMatchObject({ isError: true });
  // None, if its look after a second comes first.
  expect(progress.length).toBeLessThanOrEqual(1);
});

test('stops at its next check after a cancel, also in long stretches without a report', async () => {
  const task = { taskId: 't', owner: 'o', table: 't', results: 'r', round: 1, attempt: 0, deadline: 0 };
  const rows = Array.from({ length: 200_000 }, (_, row) => `${(row * 7_919) % 10_007},${(row * 31) % 977}`);
  const csv = `a,b\n${rows.join('\n')}`;
  const checks = { before: 0, after: 0 };
  let cancelled = false;
  const host = {
    progress: async () => true,
    alive: async () => {
      checks[cancelled ? 'after' : 'before']++;
      return !cancelled;
    },
    remember: async () => true,
    recall: async () => undefined,
    keep: async (_task: unknown, result: unknown) => result,
  };
  const event = { name: 'profile_dataset', task, accepts: [], inputResponses: {}, requestState: null };
  const args: ProfileArguments = { csv, bootstrap: 1_000 };
  const run = handler.runWith({ ...event, arguments: args } satisfies ToolEvent, host);
  // Each check comes a second after the last one at the earliest: it resamples by then.
  await expect.poll(() => checks.before).toBe(2);
  cancelled = true;
  expect(await run).toMatchObject({ isError: true });
  expect(checks.after).toBe(1);
});

test.each([
  [{}, /exactly one of/],
  [{ csv: 'a,b\n1\n' }, /malformed/],
  [{ csv: 'a\n1\n', columns: ['b'] }, /No such column/],
  [{ url: 'https://127.0.0.1/x.csv' }, /not on the public internet/],
  [{ url: 'http://data.example/x.csv' }, /Only https/],
])('%o is a result that says what to do', async (args, message) => {
  expect((await runTool(handler, args)).result).toEqual({
    isError: true,
    content: [{ type: 'text', text: expect.stringMatching(message) }],
  });
});
