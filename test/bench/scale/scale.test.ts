import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { replaced } from '../report/page.ts';
import { PAGE } from './index.ts';
import { quotas } from './quotas.ts';
import { scale } from './report.ts';

let computed: Awaited<ReturnType<typeof scale>>;
beforeAll(async () => {
  computed = await scale();
});

test('docs/limits.md has the tables that the bench computes', () => {
  const page = readFileSync(PAGE, 'utf8');
  expect(replaced(page, computed.text)).toBe(page);
});

test('a simple task takes at most five units of the indexes', () => {
  expect(computed.indexUnits).toBeLessThanOrEqual(5);
});

test('one owner with 1,000 open tasks makes at least 200 tasks a second', () => {
  expect(computed.ofOwner).toBeGreaterThanOrEqual(200);
});

test('a server makes at least 2,000 tasks a second before a key of an index throttles', () => {
  expect(computed.ofServer).toBeGreaterThanOrEqual(2_000);
});

test('each quota names the page of AWS that says it', () => {
  for (const { source } of Object.values(quotas))
    expect(source).toMatch(/^https:\/\/docs\.aws\.amazon\.com\/\S+\.html$/);
});
