import { Stack, Token } from 'aws-cdk-lib';
import { type IGrantable, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';

/** The actions of a service with the key on behalf of its caller: the role of the caller needs these rights. */
const USES = {
  /** A table. Reads and writes need the same rights: this key encrypts the key of the table. */
  dynamodb: [
    'Decrypt',
    'DescribeKey',
    'Encrypt',
    'ReEncryptFrom',
    'ReEncryptTo',
    'GenerateDataKey',
    'GenerateDataKeyWithoutPlaintext',
  ],
  /** Reads of a run. A start or stop needs no right, and the run itself uses the key by its role. */
  states: ['Decrypt'],
  /** Dead letters. */
  sqs: ['Decrypt', 'GenerateDataKey'],
  s3Read: ['Decrypt'],
  s3Write: ['GenerateDataKey'],
  secretRead: ['Decrypt'],
  /** Secrets Manager tests a new value before it stores it. */
  secretWrite: ['Decrypt', 'GenerateDataKey'],
} as const;

export type KeyUse = keyof typeof USES;

const SERVICES: Partial<Record<KeyUse, string>> = {
  s3Read: 's3',
  s3Write: 's3',
  secretRead: 'secretsmanager',
  secretWrite: 'secretsmanager',
};

/** The statements for a role that needs the customer's key, if there is one: only through the services that use it. */
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
 * Lets services use the key by themselves: CloudWatch Logs, and EventBridge for its dead letters. It does not change an
 * imported key: its owner writes the same into its policy.
 */
export function admitServices(scope: Construct, key: IKey): void {
  const { account, region, partition, urlSuffix } = Stack.of(scope);
  if (Token.isUnresolved(region)) {
    throw new Error(
      'McpTaskServer: encryptionKey: give the stack its region, as env: the key of a table is chosen by it',
    );
  }
  const log = `arn:${partition}:logs:${region}:${account}:log-group:*`;
  key.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal(`logs.${region}.${urlSuffix}`)],
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
