import { expect, test } from 'vitest';
import { INDEXES, itemOf } from '../../../functions/tasks/attributes.ts';
import { newHookKey } from '../../../functions/tasks/ids.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';
import { timedOut } from '../../../functions/tasks/transitions/waits.ts';
import { mapSize } from '../../../local/testing.ts';
import { largestOf } from '../../support/engine/largest.ts';
import { toItem } from '../../support/engine/values.ts';

const NOW = 1_764_347_432_123;
const part = 'a'.repeat(26);
const id = '0'.repeat(36);
const task = { tool: 't'.repeat(64), ttl: 31_622_399_999, timeout: 31_535_999_999, accepts: [], legacy: false };
const KEYS = {
  session: { owner: `session#${part}`, taskId: `${part}_${id}` },
  verified: { owner: `owner#${part}`, taskId: id },
};

test.each([
  ['a session', KEYS.session, {}],
  ['a verified caller', KEYS.verified, { caller: 'c'.repeat(500) }],
  ['a verified caller of a tool with scopes', KEYS.verified, { scopes: ['x'.repeat(255), 'y'.repeat(256)] }],
  ['a verified caller of a tool with many scopes', KEYS.verified, { scopes: Array.from({ length: 256 }, () => 's') }],
])('an open record of %s stays below 4 KB, whatever is added to it', (_who, key, of) => {
  const made = create(key, { ...task, hookKey: newHookKey(), ...of }, NOW);
  const inputRef = `${'f'.repeat(64)}.140000`;
  for (const status of ['waiting', 'input_required'] as const) {
    const largest = { ...largestOf(made, status), inputRef, [INDEXES.status.partition]: `${status}#7` };
    const bytes = mapSize(toItem(itemOf(largest)));
    // More would have no room, and much less is not the largest record.
    expect(bytes).toBeGreaterThan(3_500);
    expect(bytes).toBeLessThan(4_096);
  }
});

test('no wait times out whose signal the record has no room to name', () => {
  const largest = largestOf(create(KEYS.session, task, NOW), 'input_required');
  expect(largest.early).toBe(0);
  expect(timedOut(largest, Number.MAX_SAFE_INTEGER)).toEqual({});
});
