import { expect, test } from 'vitest';
import { useCloud } from '../../support/cloud.ts';
import { fuzzCloud } from './fuzz-cloud.ts';
import { testSeed } from './generate/random.ts';

const cloud = useCloud('brief');
const seed = testSeed;
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 300);

test(`${REQUESTS} fuzzed requests over HTTP, seed ${seed}: right answers only (A-02, A-05, A-13, A-15, A-17)`, async () => {
  const { problems, stored } = await fuzzCloud(cloud(), seed, REQUESTS);
  expect(problems.join('\n')).toBe('');
  expect(stored).toBeGreaterThan(0);
}, 600_000);
