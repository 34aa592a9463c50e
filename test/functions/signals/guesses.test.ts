import { test } from 'vitest';
import { guess } from './guesses.ts';

test('100,000 URLs that this server has not made: one answer, two reads at most, no change', async () => {
  await guess(100_000);
}, 120_000);
