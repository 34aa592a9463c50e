import { Stack, Token } from 'aws-cdk-lib';
import { type IGrantable, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';

/** What a service does with the key on behalf of its caller, who needs the right to it. */
const USES = {
  /** A table: reading and writing need the same, since its own key is encrypted by this one. */
  dynamodb: [
    'Decrypt',
    'DescribeKey',
    'Encrypt',
    'ReEncryptFrom',
    'ReEncryptTo',
    'GenerateDataKey',
    'GenerateDataKeyWithoutPlaintext',
  ],
  /** To look at a run. Who starts or stops one needs nothing, and the run itself uses the key as its own role. */
  states: ['Decrypt'],
  /** Dead letters. */
  sqs: ['Decrypt', 'GenerateDataKey'],
  s3Read: ['Decrypt'],
  s3Write: ['GenerateDataKey'],
  secretRead: ['Decrypt'],
  /** A new value is tried out before it is taken. */
  secretWrite: ['Decrypt', 'GenerateDataKey'],
} as const;

export type KeyUse = keyof typeof USES;

const SERVICES: Partial<Record<KeyUse, string>> = {
  s3Read: 's3',
  s3Write: 's3',
  secretRead: 'secretsmanager',
  secretWrite: 'secretsmanager',
};

/** What a role needs of the customer's key, where there is one: only by way of the services that it is used in. */
export function keyStatements(scope: Construct, key: IKey | undefined, uses: readonly KeyUse[]): PolicyStatement[] {
  if (key === undefined) return [];
  const { region, urlSuffix } = Stack.of(scope);
  return uses.map(
    (use) =>
      new PolicyStatement({
        actions: USES[use].map((action) => `kms:${action}`),
        resources: [key.keyArn],
        conditions: { StringEquals: { 'kms:ViaService': `${SERVICES[use] ?? use}.${region}.${urlSuffix}` } },
      }),
  );
}

export function allowKey(role: IGrantable, scope: Construct, key: IKey | undefined, uses: readonly KeyUse[]): void {
  for (const statement of keyStatements(scope, key, uses)) role.grantPrincipal.addToPrincipalPolicy(statement);
}

/**
 * Lets the services in that use the key by themselves: CloudWatch Logs, and EventBridge for its dead letters. An
 * imported key has a policy that is not ours: its owner writes the same there.
 */
export function admitServices(scope: Construct, key: IKey): void {
  const { account, region, partition } = Stack.of(scope);
  if (Token.isUnresolved(region)) {
    throw new Error(
      'McpTaskServer: encryptionKey: give the stack its region, as env: the key of a table is chosen by it',
    );
  }
  const log = `arn:${partition}:logs:${region}:${account}:log-group:*`;
  key.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal(`logs.${region}.amazonaws.com`)],
      actions: ['Encrypt', 'Decrypt', 'ReEncrypt*', 'GenerateDataKey*', 'Describe*'].map((action) => `kms:${action}`),
      resources: ['*'],
      conditions: { ArnLike: { 'kms:EncryptionContext:aws:logs:arn': log } },
    }),
  );
  key.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal('events.amazonaws.com')],
      actions: ['kms:Decrypt', 'kms:GenerateDataKey'],
      resources: ['*'],
      conditions: { StringEquals: { 'aws:SourceAccount': account } },
    }),
  );
}
