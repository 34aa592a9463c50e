import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { describe, expect, test } from 'vitest';
import { rotate } from '../../../functions/rotation/rotate.ts';
import { fakeClient } from '../../support/aws-client.ts';

type Stages = Record<string, string[]>;

/** Secrets Manager as far as the function talks to it; `put` is what it was given. */
function secretsManager(stages: Stages, values: Record<string, string> = {}) {
  const did: string[] = [];
  const put: string[] = [];
  const send = fakeClient<SecretsManagerClient>(async (name, given) => {
    const input = given as Record<string, string>;
    did.push(name);
    if (name === 'DescribeSecret') return { VersionIdsToStages: stages };
    if (name === 'PutSecretValue') {
      expect(input).toMatchObject({ SecretId: 'arn', VersionStages: ['AWSPENDING'] });
      if (values[String(input.ClientRequestToken)])
        throw Object.assign(new Error(), { name: 'ResourceExistsException' });
      put.push(String(input.SecretString));
    }
    if (name === 'UpdateSecretVersionStage') did.push(JSON.stringify(input));
    return {};
  });
  const step = (Step: 'createSecret' | 'setSecret' | 'testSecret' | 'finishSecret') =>
    rotate({ Step, SecretId: 'arn', ClientRequestToken: 'new' }, send);
  return { did, put, step };
}

const begun = () => ({ old: ['AWSCURRENT'], new: ['AWSPENDING'] });

describe('a step of the rotation', () => {
  test('createSecret gives the new version a key of 384 random bits, each time another', async () => {
    const { step, put } = secretsManager(begun());
    await step('createSecret');
    await step('createSecret');
    expect(put).toEqual([expect.stringMatching(/^[\w-]{64}$/), expect.stringMatching(/^[\w-]{64}$/)]);
    expect(put[0]).not.toBe(put[1]);
  });

  test('createSecret once more, after it had succeeded, changes nothing', async () => {
    const { step, put } = secretsManager(begun(), { new: 'a key' });
    await step('createSecret');
    expect(put).toEqual([]);
  });

  test('setSecret and testSecret have nothing to do, also when no rotation is on', async () => {
    const { step, did } = secretsManager({ old: ['AWSCURRENT'] });
    await step('setSecret');
    await step('testSecret');
    expect(did).toEqual([]);
  });

  test('finishSecret makes it current, once', async () => {
    const { step, did } = secretsManager(begun());
    expect(await step('finishSecret')).toBe('done');
    const move = { SecretId: 'arn', VersionStage: 'AWSCURRENT', MoveToVersionId: 'new', RemoveFromVersionId: 'old' };
    expect(did).toEqual(['DescribeSecret', 'UpdateSecretVersionStage', JSON.stringify(move)]);

    const over = secretsManager({ old: ['AWSPREVIOUS'], new: ['AWSCURRENT', 'AWSPENDING'] });
    expect(await over.step('finishSecret')).toBeUndefined();
    await over.step('createSecret');
    expect(over.did).toEqual(['DescribeSecret', 'DescribeSecret']);
  });

  test.each<[string, Stages]>([
    ['that is not there', { old: ['AWSCURRENT'] }],
    ['that is not the one to rotate to', { old: ['AWSCURRENT'], new: ['AWSPREVIOUS'] }],
  ])('of a version %s is refused', async (_title, stages) => {
    const { step, did } = secretsManager(stages);
    await expect(step('createSecret')).rejects.toThrow('not the one to rotate to');
    await expect(step('finishSecret')).rejects.toThrow('not the one to rotate to');
    expect(did).toEqual(['DescribeSecret', 'DescribeSecret']);
  });
});
