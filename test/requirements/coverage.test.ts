import { describe, expect, test } from 'vitest';
import { scenarios } from '../conformance/scenarios.ts';
import { byScenario } from './by-scenario.ts';
import { claimsOfScenarios, claimsOfTests } from './claims.ts';
import { cover } from './coverage.ts';
import { report, reportMissing } from './report.ts';
import { parseTable, readTable } from './table.ts';

const row = (id: string, level: string) => `| ${id} | ${level} | What ${id} says. | |`;
const rows = (section: string, level: string, count: number) =>
  Array.from({ length: count }, (_, index) => row(`${section}-${String(index + 1).padStart(2, '0')}`, level));
const tableOf = (...lines: readonly (string | readonly string[])[]) => parseTable(lines.flat().join('\n'));
const claim = (id: string, proves = true) => ({ id, source: `x.test.ts:${id}`, proves });

describe('the table', () => {
  test('has the rows of A to F with their weight, and others to cite', () => {
    const weights = ['MUST', 'DEC MUST', 'MUST NOT', 'SHOULD', 'SHOULD NOT', 'MAY', 'DEC'];
    const lines = weights.map((level, index) => row(`A-0${index}`, level));
    const table = tableOf('| ID | Level |', '| 1 | A-99 |', lines, row('G-01', 'MUST'), row('X-01', 'Topic'));
    const expected = ['MUST', 'MUST', 'MUST', 'SHOULD', 'SHOULD', undefined, undefined, undefined, undefined];
    expect(table.map(({ weight }) => weight)).toEqual(expected);
    expect(table.at(-1)).toMatchObject({ section: 'X', level: '', text: 'Topic' });
  });

  test('refuses a row twice and an unknown level', () => {
    expect(() => tableOf(row('A-01', 'MUST'), row('A-01', 'MAY'))).toThrow('twice');
    expect(() => tableOf(row('A-01', 'MUTS'))).toThrow('MUTS');
  });

  test('of the project counts every section in full', () => {
    const numbers = new Map<string, number[]>();
    for (const { id } of readTable())
      numbers.set(id.slice(0, 1), [...(numbers.get(id.slice(0, 1)) ?? []), Number(id.slice(2))]);
    expect([...numbers.keys()]).toEqual([...'ABCDEFGHX']);
    for (const of of numbers.values()) expect(of).toEqual(of.map((_, index) => index + 1));
    expect(readTable().filter(({ weight }) => weight !== undefined)).toHaveLength(147);
  });
});

describe('the verdict', () => {
  test('wants every MUST', () => {
    const table = tableOf(rows('A', 'MUST', 2), row('B-01', 'MAY'));
    expect(cover(table, [claim('A-01')], {}).complete).toBe(false);
    expect(cover(table, [claim('A-01'), claim('A-02', false)], {}).complete).toBe(false);
    expect(cover(table, [claim('A-01'), claim('A-02')], {}).complete).toBe(true);
  });

  test.each([
    [19, true],
    [18, false],
  ])('of 20 SHOULDs, %i are enough: %s', (proven, complete) => {
    const table = tableOf(rows('C', 'SHOULD', 20));
    const claims = table.slice(0, proven).map(({ id }) => claim(id));
    expect(cover(table, claims, {}).complete).toBe(complete);
  });

  test('takes a reason for a proof, but not of more than one row in 20', () => {
    const table = tableOf(rows('D', 'MUST', 39));
    const claims = table.slice(2).map(({ id }) => claim(id));
    expect(cover(table, [...claims, claim('D-02')], { 'D-01': 'needs two regions' }).complete).toBe(true);
    const both = cover(table, claims, { 'D-01': 'needs two regions', 'D-02': 'so does this' });
    expect(both.mistakes).toEqual(['unprovable.ts excuses 2 rows; 1 are allowed']);
    expect(both.complete).toBe(false);
  });

  test('finds unknown ids, and excuses that are not needed', () => {
    const table = tableOf(rows('E', 'MUST', 40), row('E-41', 'MAY'), row('X-01', 'Topic'));
    const claims = [...table.slice(0, 40).map(({ id }) => claim(id)), claim('X-01'), claim('E-77', false)];
    expect(cover(table, claims, {}).mistakes).toEqual(['E-77 is not a requirement: x.test.ts:E-77']);
    const excused = (id: string) => cover(table, claims.slice(0, -1), { [id]: 'why' }).mistakes;
    expect(excused('E-01')).toEqual(['unprovable.ts excuses E-01, but x.test.ts:E-01 proves it']);
    expect(excused('E-41')).toEqual(['unprovable.ts excuses E-41, which is not a row that counts']);
  });
});

describe('a scenario', () => {
  const gated = { name: 'ping', revisions: [] } as const;
  const proves = (scenario: object) =>
    claimsOfScenarios([{ ...gated, ...scenario }], { ping: ['B-12'] }).map((one) => one.proves);

  test('proves nothing while it is idle, or may fail', () => {
    expect(proves({})).toEqual([true]);
    expect(proves({ idle: 'nothing to do' })).toEqual([false]);
    expect(proves({ baseline: { reason: 'not offered' } })).toEqual([false]);
    expect(proves({ baseline: { reason: 'not offered', checks: ['other'] } })).toEqual([true]);
  });

  test('is in the table of proofs, and the table names no other', () => {
    expect(() => claimsOfScenarios([gated], {})).toThrow('does not say what ping proves');
    expect(() => claimsOfScenarios([], { pong: [] })).toThrow('pong, which is not a scenario');
    const known = readTable().map(({ id }) => id);
    expect(claimsOfScenarios(scenarios, byScenario).filter(({ id }) => !known.includes(id))).toEqual([]);
  });
});

test('the report', () => {
  const table = tableOf(rows('A', 'MUST', 38), row('F-01', 'SHOULD'), row('F-02', 'DEC MUST'), row('F-03', 'MAY'));
  const titles = table.slice(1, 38).map(({ id }, line) => ({ parts: ['it', `does it (${id})`], file: 'a', line }));
  const claims = [...claimsOfTests(titles, () => ''), claim('F-01', false), claim('Z-01')];
  const coverage = cover(table, claims, { 'A-01': 'needs two regions' });
  expect(report(coverage).split('\n')).toMatchInlineSnapshot(`
    [
      "section         MUST            SHOULD",
      "A               37 / 38 (+1)    0 / 0",
      "B               0 / 0           0 / 0",
      "C               0 / 0           0 / 0",
      "D               0 / 0           0 / 0",
      "E               0 / 0           0 / 0",
      "F               0 / 1           0 / 1",
      "all             37 / 39 (+1)    0 / 1",
      "",
      "Not provable on one machine (1):",
      "  A-01  MUST        needs two regions",
      "",
      "Without a test (2):",
      "  F-01  SHOULD      What F-01 says.",
      "    does not run: x.test.ts:F-01",
      "  F-02  DEC MUST    What F-02 says.",
      "",
      "Without a test, not counted (1):",
      "  F-03  MAY         What F-03 says.",
      "",
      "Mistakes (1):",
      "  Z-01 is not a requirement: x.test.ts:Z-01",
      "",
      "The requirements are NOT proven",
    ]
  `);
  expect(report(coverage)).toContain(reportMissing(coverage));
});
