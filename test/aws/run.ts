/**
 * `npm run test:aws`: asks AWS itself about every row of this folder's table, by TestState with mocked integrations.
 * Nothing is created, and nothing of the account is touched; it takes the permission `states:TestState` on `*`, and some
 * minutes, since that operation is throttled. Credentials and region are found as by any AWS SDK (us-east-1 where no
 * region is set); without credentials it is skipped, by name and with exit code 0.
 */
import { SFNClient } from '@aws-sdk/client-sfn';
import { runTests } from '../contract/run-tests.ts';

const { config } = new SFNClient({});

if (await hasCredentials()) {
  const region = await config.region().catch(() => 'us-east-1');
  const env = { TEST_STATE_ON_AWS: '1', AWS_REGION: region };
  process.exitCode = await runTests('test/aws/states.test.ts', env, '--testTimeout=300000');
} else {
  console.log('skipped: no AWS credentials');
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
