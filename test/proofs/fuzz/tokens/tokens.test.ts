import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Cloud } from '../../../../local/cloud.ts';
import { changeAssembly } from '../../../support/change-assembly.ts';
import { startOAuthCloud } from '../../../support/oauth-cloud.ts';
import { startIssuer, type TestIssuer } from '../../../support/oidc.ts';
import { testSeed } from '../generate/random.ts';
import { fuzzTokens } from './campaign.ts';

const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 200);
let issuer: TestIssuer;
const started: Cloud[] = [];
async function start(change?: (assembly: string) => void): Promise<Cloud> {
  const cloud = await startOAuthCloud(issuer.url, {}, change);
  started.push(cloud);
  return cloud;
}
beforeAll(async () => {
  process.env.MCP_TEST_BRIEF = '1';
  issuer = await startIssuer();
});
afterAll(async () => {
  delete process.env.MCP_TEST_BRIEF;
  for (const cloud of started) await cloud.stop();
  await issuer?.stop();
});

test(`${REQUESTS} forged tokens, seed ${testSeed}: a bad one has no effect, a good one works (G-02, G-03, G-09)`, async () => {
  const { problems, answers } = await fuzzTokens(await start(), issuer, testSeed, REQUESTS);
  expect(problems.join('\n')).toBe('');
  expect([...answers.keys()]).toEqual(expect.arrayContaining(['refused: HTTP 401', 'forbidden: HTTP 403']));
}, 600_000);

test.each([
  ['an authorizer that skips crit', /if\([^()]*\)throw (?:new )?Error\("The token has an extension[^"]*"\)/, 'crit'],
  ['an authorizer that skips the audience', /\.some\((\w+)=>\w+\.includes\(String\(\1\)\)\)/, 'aud'],
])('%s is noticed', async (_, code, claim) => {
  const plant = (text: string) => text.replace(code, claim === 'crit' ? '0' : '.concat(1).some(()=>true)');
  const cloud = await start((assembly) => changeAssembly(assembly, (path) => path.endsWith('.js'), plant));
  const { problems } = await fuzzTokens(cloud, issuer, testSeed, 400);
  expect(problems.join('\n')).toMatch(new RegExp(`${claim} .*HTTP \\d+ to a token that is refused`));
});
