import { expect, test } from 'vitest';
import { isProven } from '../../../../functions/tasks/results/result-ref.ts';

test.each([
  ['with a hash', 'a', 1, true],
  ['with a hash, in a record of 0.1', 'a', undefined, true],
  ['without a hash, in a record of 0.1', undefined, undefined, true],
  ['without a hash', undefined, 1, false],
])('a reference %s may be followed, or not (C-28)', (_name, sha256, version, may) => {
  const reference = { bytes: 1, ...(sha256 !== undefined && { sha256 }) };
  expect(isProven(reference, version === undefined ? {} : { version })).toBe(may);
});
