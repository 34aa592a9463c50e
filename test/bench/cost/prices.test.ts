import { expect, test } from 'vitest';
import { readPage, rowsOf } from '../../docs/pages.ts';
import { modernRequest, runTask } from '../../support/clients.ts';
import { useAssembly, useCloud } from '../../support/cloud.ts';
import { digits } from '../report/page.ts';
import { linesOf } from './index.ts';
import { perMillion, simpleTask } from './prices.ts';

const standard = useCloud();
const express = useCloud('assembly', { assembly: useAssembly('test/support/apps/express-app.ts') });

const [two, one] = [perMillion(simpleTask('standard', 1_000)), perMillion(simpleTask('express', 1_000))];

test('a million tasks of a second cost on Express at most 0.55 of the price on Standard', () => {
  // A request, and a second of 64 MB.
  expect(one.engine).toBeCloseTo(1 + 0.0625 * 16.67, 2);
  expect(one.total / two.total).toBeLessThan(0.55);
  expect(perMillion(simpleTask('express', 8_500)).total / two.total).toBeLessThan(0.55);
  expect(perMillion(simpleTask('express', 8_600)).total / two.total).toBeGreaterThan(0.55);
});

test('deploying.md has the computed price of a million tasks of a second, part by part', () => {
  const [, page = ''] = readPage('docs/deploying.md').split('## What it costs');
  const { total, ...parts } = two;
  expect(
    rowsOf(page)
      .slice(2, 8)
      .map(([, dollars]) => Number(dollars)),
  ).toEqual(Object.values(parts).map(Math.round));
  expect(page).toContain(`**$${Math.round(one.total)} in place of $${Math.round(total)}** altogether`);
});

test('performance.md has the computed prices of a task that is polled five times', () => {
  const page = readPage('docs/performance.md');
  expect(page).toContain(`| ${digits(one.total / two.total)} × for a run of 1 s; more than 0.55 × above 8.5 s`);
  const lines = [1, 60].flatMap((seconds) => {
    const [standard, express] = [simpleTask('standard', seconds * 1_000), simpleTask('express', seconds * 1_000)];
    return linesOf(`a run of ${seconds} s, five polls`, standard, express);
  });
  for (const { what, measured } of lines) expect(page).toContain(`| ${what} | ${measured} |`);
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
