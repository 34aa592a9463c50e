import { expect, test } from 'vitest';
import { modernRequest, runTask } from '../../support/clients.ts';
import { useAssembly, useCloud } from '../../support/cloud.ts';
import { perMillion, simpleTask } from './prices.ts';

const standard = useCloud();
const express = useCloud('assembly', { assembly: useAssembly('test/support/apps/express-app.ts') });

test('a million tasks of a second cost as deploying.md says, and on Express at most 0.55 of it', () => {
  const [two, one] = [perMillion(simpleTask('standard', 1_000)), perMillion(simpleTask('express', 1_000))];
  expect(Object.values(two).map(Math.round)).toEqual([50, 21, 6, 2, 6, 4, 89]);
  // A request, and a second of 64 MB.
  expect(one.engine).toBeCloseTo(1 + 0.0625 * 16.67, 2);
  expect(one.total / two.total).toBeLessThan(0.55);
});

test('on Express a run costs by its time: from 47 seconds on as much as on Standard', () => {
  const { total } = perMillion(simpleTask('standard', 60_000));
  expect(perMillion(simpleTask('express', 1)).engine).toBeCloseTo(1 + 0.00625 * 16.67, 2);
  expect(perMillion(simpleTask('express', 47_000)).total).toBeLessThan(total);
  expect(perMillion(simpleTask('express', 48_000)).total).toBeGreaterThan(total);
});

test('a simple task needs as many units on both engines, its arguments included', async () => {
  const used = await Promise.all(
    [standard(), express()].map(async (cloud) => {
      const url = `${cloud.url}/mcp`;
      await modernRequest(url, 'server/discover', {});
      const mark = cloud.calls.mark();
      await runTask(url, 'echo', { text: 'a'.repeat(100) });
      const writes = cloud.calls
        .since(mark)
        .filter(({ service, operation }) => service === 'dynamodb' && /Put|Update/.test(operation));
      return writes.map(({ operation, consumed }) => [operation, consumed]);
    }),
  );
  expect(used[1]).toEqual(used[0]);
  expect(used[0]?.length).toBeGreaterThan(1);
  for (const [, consumed] of used[0] ?? []) expect(consumed).toBeDefined();
});
