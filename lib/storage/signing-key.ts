import { Duration, Stack } from 'aws-cdk-lib';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { BundledCode, bundle } from '../bundles.ts';
import { allow, serverFunction } from '../server-function.ts';
import { allowKey } from './kms-grants.ts';
import type { StorageProps } from './log-group.ts';

export interface SigningKeyProps {
  /** How often the key is replaced. */
  readonly rotateAfter: Duration;
  readonly storage: StorageProps;
}

/**
 * The key that signs session ids, cursors and the like, which clients keep and send back. Signatures of the last key stay
 * valid until the next rotation, so nothing that a client holds may live longer than `rotateAfter`.
 */
export class SigningKey extends Construct {
  readonly secret: ISecret;

  constructor(scope: Construct, id: string, { rotateAfter, storage }: SigningKeyProps) {
    super(scope, id);
    const { encryptionKey } = storage;
    this.secret = new Secret(this, 'Secret', {
      description: 'Signs MCP session ids, event ids, cursors and request state',
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      ...(encryptionKey && { encryptionKey }),
    }) as ISecret;
    const options = {
      description: 'Rotates the key that MCP session ids, cursors and request state are signed with',
      code: new BundledCode((use) => bundle('rotation', {}, use)),
      memorySize: 256,
      timeout: Duration.seconds(30),
    };
    const rotation = serverFunction(this, 'Rotation', options, storage);
    // The function may replace the key, and cannot read it.
    allow(
      rotation,
      ['DescribeSecret', 'PutSecretValue', 'UpdateSecretVersionStage'].map((action) => `secretsmanager:${action}`),
      this.secret.secretArn,
    );
    allowKey(rotation, this, encryptionKey, ['secretWrite']);
    rotation.addPermission('SecretsManager', {
      principal: new ServicePrincipal('secretsmanager.amazonaws.com'),
      sourceAccount: Stack.of(this).account,
    });
    const { functionArn } = rotation;
    const schedule = this.secret.addRotationSchedule('Schedule', {
      // An imported function: CDK would give a function of the app the right to read every value, and more.
      rotationLambda: LambdaFunction.fromFunctionAttributes(this, 'Rotator', { functionArn, sameEnvironment: true }),
      automaticallyAfter: rotateAfter,
      // Two deployments in a row would be two rotations: signatures of the first key would be invalid.
      rotateImmediatelyOnUpdate: false,
    });
    // Secrets Manager checks that it may call the function.
    schedule.node.addDependency(rotation.node.findChild('SecretsManager'));
  }
}
