import { Duration, Stack } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { bundleRotation, McpCode } from '../bundles.ts';
import { allowKey } from './kms-grants.ts';
import { type Keeping, logs } from './log-group.ts';

export interface SigningKeyProps {
  /** How often the key is replaced. */
  readonly rotateAfter: Duration;
  readonly keeping: Keeping;
}

/**
 * The key that signs what clients keep and bring back. What the key before it has signed still opens, so nothing that
 * a client holds may live longer than `rotateAfter`.
 */
export class SigningKey extends Construct {
  readonly secret: Secret;

  constructor(scope: Construct, id: string, { rotateAfter, keeping }: SigningKeyProps) {
    super(scope, id);
    const { encryptionKey } = keeping;
    this.secret = new Secret(this, 'Secret', {
      description: 'Signs MCP session ids, event ids, cursors and request state',
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      ...(encryptionKey && { encryptionKey }),
    });
    const logGroup = logs(this, keeping);
    const rotation = new LambdaFunction(this, 'Rotation', {
      description: 'Rotates the key that MCP session ids, cursors and request state are signed with',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 256,
      timeout: Duration.seconds(30),
      handler: 'index.handler',
      code: new McpCode(bundleRotation),
      logGroup,
      role: new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') }),
    });
    const allow = (actions: string[], resource: string) =>
      rotation.addToRolePolicy(new PolicyStatement({ actions, resources: [resource] }));
    allow(['logs:CreateLogStream', 'logs:PutLogEvents'], logGroup.logGroupArn);
    // It may give the secret another value, and never learns the one there is.
    allow(
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
      // As an imported one: to one of its own CDK would give the right to read every value, and to more besides.
      rotationLambda: LambdaFunction.fromFunctionAttributes(this, 'Rotator', { functionArn, sameEnvironment: true }),
      automaticallyAfter: rotateAfter,
      // Or two deployments in a row would be two rotations, and the key before the last one would be gone.
      rotateImmediatelyOnUpdate: false,
    });
    schedule.node.addDependency(rotation);
  }
}
