import { describe, expect, test } from 'vitest';
import { pollInterval } from '../../../../functions/mcp/wire/poll-interval.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { manifest } from '../support/fake-server.ts';

const START = 1_700_000_000_000;
const S = 1_000;
const record = create(
  { owner: 'o', taskId: 't' },
  { tool: 't', ttl: 1, timeout: 1, accepts: [], legacy: false },
  START,
);
const [tool] = manifest.tools;

describe('the poll interval (C-11, E-08)', () => {
  test.each([
    ['unknown: 15 % of the age, from 1 to 30 s', undefined, [0, 20, 100, 10_000], [1, 3, 15, 30]],
    ['under 10 s: every second, until it takes longer', 9, [0, 9, 10, 60, 1_000], [1, 1, 1.5, 9, 30]],
    ['under a minute: every 3 s, until it takes longer', 10, [0, 10, 11, 100], [3, 3, 3, 15]],
    ['a minute: every 5 s', 60, [0], [5]],
    ['up to 10 minutes: every 5 s, until it takes longer', 600, [0, 600, 601], [5, 5, 30]],
    ['longer: 10 to 30 s', 601, [0, 100, 601], [10, 15, 30]],
  ])('%s', (_name, expected, ages, intervals) => {
    if (tool === undefined) throw new Error();
    const entry = { ...tool, ...(expected !== undefined && { expectedDuration: expected * S }) };
    expect(ages.map((age) => pollInterval(record, entry, START + age * S) / S)).toEqual(intervals);
  });

  test('of a tool that is gone goes by the age', () => {
    expect(pollInterval(record, undefined, START + 100 * S)).toBe(15 * S);
  });

  test('a fixed one is what the tool says, at any age', () => {
    const entry = tool && { ...tool, pollInterval: 250, expectedDuration: 5 * S };
    expect(pollInterval(record, entry, START + 1_000 * S)).toBe(250);
  });
});
