import { expect, test } from 'vitest';
import { perMillion, simpleTask } from './prices.ts';

test('a million tasks cost as deploying.md says', () => {
  expect(Object.values(perMillion(simpleTask())).map(Math.round)).toEqual([50, 21, 8, 2, 6, 88]);
});
