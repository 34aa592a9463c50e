/**
 * `npm run test:aws [-- --create [--tasks 1000] [--options]]`: asks AWS itself what only it can answer (docs/verify-on-aws.md).
 *
 * Without `--create` nothing is created, and nothing of the account is changed: every row of this folder's table goes to
 * TestState with mocked integrations, the definitions are validated, and the quota of Lambda is shown. That takes the
 * permissions `states:TestState`, `states:ValidateStateMachineDefinition` and `lambda:GetAccountSettings` on `*`, and some
 * minutes, since the first is throttled. AWS_ENDPOINT_URL (or …_SFN) names another AWS.
 *
 * With `--create` the stack `McpTaskServerVerify` is deployed with the CDK, checked (./verify/checks.ts) and removed
 * again: some 10 minutes and a few cents. `--tasks` also runs this many tasks, for
 * the bill; `--options` deploys it with a KMS key, a web ACL and a
 * tool that is the version of a function.
 *
 * Credentials and region are found as by any AWS SDK (us-east-1 where no region is set); without credentials it is
 * skipped, by name and with exit code 0.
 */
import { parseArgs } from 'node:util';
import { SFNClient } from '@aws-sdk/client-sfn';
import { runTests } from '../contract/run-tests.ts';
import { lookAtAccount } from './account.ts';
import { runChecks } from './verify/checks.ts';
import { verifyClient } from './verify/client.ts';
import { withStack } from './verify/stack.ts';

const { values } = parseArgs({
  options: {
    create: { type: 'boolean', default: false },
    tasks: { type: 'string', default: '0' },
    options: { type: 'boolean', default: false },
  },
});
const { config } = new SFNClient({});

if (await hasCredentials()) {
  const region = await config.region().catch(() => 'us-east-1');
  const right = values.create ? await create(region) : await check(region);
  if (!right) process.exitCode = 1;
} else {
  console.log('skipped: no AWS credentials');
}

async function check(region: string): Promise<boolean> {
  const right = await lookAtAccount(new SFNClient({ region }), region, console.log);
  const env = { TEST_STATE_ON_AWS: '1', AWS_REGION: region };
  return (await runTests('test/aws/states.test.ts', env, '--testTimeout=300000')) === 0 && right;
}

async function create(region: string): Promise<boolean> {
  if (process.env.AWS_ENDPOINT_URL !== undefined) throw new Error('--create is for AWS itself: unset AWS_ENDPOINT_URL');
  const count = Number(values.tasks);
  if (!Number.isInteger(count) || count < 0) throw new Error('--tasks takes a number');
  if (values.options) process.env.VERIFY_OPTIONS = '1';
  let right = false;
  await withStack(region, async ({ Endpoint, NapMachine, AuthorMachine }) => {
    const client = verifyClient(Endpoint, region, config.credentials);
    const machines = { machine: NapMachine, author: AuthorMachine };
    const within = { end: 2_000, question: 1_000, left: 20_000 };
    const context = { client, sfn: new SFNClient({ region }), ...machines, nap: 90_000, within };
    right = await runChecks(context, console.log);
    const since = new Date().toISOString();
    for (let made = 0; made < count; made++) await client.end(await client.start('nap', { ms: 0 }), 60_000);
    if (count > 0) console.log(`${count} tasks from ${since} to ${new Date().toISOString()}: see the bill tomorrow`);
  });
  return right;
}

/** Credentials that are there but not good are an error, and no reason to skip. */
async function hasCredentials(): Promise<boolean> {
  try {
    await config.credentials();
    return true;
  } catch (error) {
    if (error instanceof Error && error.name === 'CredentialsProviderError') return false;
    throw error;
  }
}
