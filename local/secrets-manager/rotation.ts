import { randomUUID } from 'node:crypto';
import { AwsError } from '../aws-error.ts';
import type { Iam } from '../iam/index.ts';
import type { Lambda } from '../lambda/index.ts';
import type { SecretResource } from '../template/specs.ts';
import type { Versions } from './versions.ts';

export interface RotationOptions {
  readonly lambda: Pick<Lambda, 'invoke'>;
  readonly iam: Pick<Iam, 'mayService'>;
  readonly now: () => number;
  /** Divides the time between rotations. */
  readonly timeScale: number;
  readonly onError: (message: string) => void;
}

const STEPS = ['createSecret', 'setSecret', 'testSecret', 'finishSecret'];
/** "If any rotation step fails, Secrets Manager retries the entire rotation process multiple times." */
const ATTEMPTS = 3;

export function createRotation(versions: Versions, options: RotationOptions) {
  const running = new Set<string>();
  const pending = (name: string) =>
    versions.of(name).find(({ stages }) => stages.includes('AWSPENDING') && !stages.includes('AWSCURRENT'));

  const run = async (secret: SecretResource, id: string): Promise<void> => {
    running.add(secret.name);
    for (let left = ATTEMPTS; left > 0; left--) {
      try {
        for (const step of STEPS) await invoke(secret, step, id, options);
        break;
      } catch (error) {
        options.onError(`the rotation of ${secret.name} failed: ${error instanceof Error ? error.message : error}`);
      }
    }
    running.delete(secret.name);
  };
  /** Starts a rotation. Returns the id of the new version; the function of the secret runs in the background. */
  const begin = (secret: SecretResource, id: string = randomUUID()): string => {
    if (!secret.rotation) throw new AwsError('InvalidRequestException', 'No Lambda function rotates this secret.');
    if (pending(secret.name)) {
      throw new AwsError(
        'InvalidRequestException',
        "A previous rotation isn't complete. That rotation will be reattempted.",
      );
    }
    versions.put(secret.name, id, undefined, ['AWSPENDING']);
    void run(secret, id);
    return id;
  };
  return {
    begin,
    /** Rotates if the current version is old enough. Also continues a rotation that failed. */
    beginIfDue(secret: SecretResource): void {
      const { name, rotation } = secret;
      if (!rotation || running.has(name)) return;
      const failed = pending(name);
      if (failed) return void run(secret, failed.id);
      const current = versions.of(name).find(({ stages }) => stages.includes('AWSCURRENT'));
      const age = options.now() - (current?.createdAt ?? 0) * 1000;
      if (age >= rotation.everyMs / options.timeScale) begin(secret);
    },
  };
}

async function invoke({ arn, rotation }: SecretResource, Step: string, id: string, { lambda, iam }: RotationOptions) {
  const functionArn = rotation?.functionArn ?? '';
  if (!iam.mayService('secretsmanager.amazonaws.com', 'lambda:InvokeFunction', functionArn, arn)) {
    throw new Error('Secrets Manager may not invoke its function');
  }
  const event = { Step, SecretId: arn, ClientRequestToken: id };
  const { payload, functionError } = await lambda.invoke(functionArn, JSON.stringify(event));
  if (functionError !== undefined) throw new Error(`${Step}: ${payload}`);
}
