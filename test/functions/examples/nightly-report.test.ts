import { expect, test, vi } from 'vitest';
import { handler, nextSix } from '../../../functions/examples/nightly-report.ts';
import { runTool } from '../../../functions/tool/testing.ts';

test('sums up 200 customers, sleeps, and returns the report', async () => {
  // Ten seconds before six it would not end its run.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2027, 0, 1, 22) });
  const { result, rounds, progress } = await runTool(handler, {}).finally(() => vi.useRealTimers());
  expect(result).toMatchObject({ customers: 200, best: expect.stringMatching(/^customer-\d+$/) });
  expect(progress.at(-1)).toEqual({ message: 'Customer 200/200', progress: 199, total: 200 });
  expect(rounds).toBe(2);
});

test.each([
  ['2027-01-01T22:10:00.000Z', '2027-01-02T06:00:00.000Z'],
  ['2027-01-01T05:59:59.999Z', '2027-01-01T06:00:00.000Z'],
  ['2027-01-31T06:00:00.000Z', '2027-02-01T06:00:00.000Z'],
])('at %s the next six in the morning is %s', (now, six) => {
  expect(nextSix(new Date(now)).toISOString()).toBe(six);
});

test('a run that dies in the middle leads to the same report', async () => {
  const customers = ['Ada', 'Bob', 'Cyd'];
  const { result } = await runTool(handler, { customers });
  expect((await runTool(handler, { customers }, { crashAfter: 'customer 2/3' })).result).toEqual(result);
});

test('stops at the first report once the task is over', async () => {
  const { result, progress } = await runTool(handler, {}, { cancelInRound: 1 });
  expect(result).toMatchObject({ isError: true });
  expect(progress.length).toBeLessThanOrEqual(20);
});
