import { Annotations } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { Policy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { PROGRESS_PARTITION, RUN_QUERIES, RUN_READS, RUN_WRITES } from '../../functions/tasks/attributes.ts';
import { acknowledgeWildcard } from '../nag.ts';
import { keyStatements } from '../storage/kms-grants.ts';

export interface ReportTargets {
  readonly table: ITable;
  readonly results: IBucket;
  readonly encryptionKey: IKey | undefined;
}

/**
 * Lets functions of tools report progress, keep a journal of their steps, and store large results. The policy is in this
 * stack; a function may be in another one.
 */
export class ReportPolicy {
  readonly #scope: Construct;
  readonly #targets: ReportTargets;
  #policy: Policy | undefined;
  #files: Policy | undefined;

  constructor(scope: Construct, targets: ReportTargets) {
    this.#scope = scope;
    this.#targets = targets;
  }

  /**
   * A function without a known role gets a warning instead.
   *
   * @param files whether it stores files
   */
  allow({ node, role }: IFunction, files = false): void {
    if (role === undefined) {
      Annotations.of(this.#scope).addWarningV2(
        'mcp-task-server:no-role',
        `${node.path} has no known role: let it dynamodb:GetItem and dynamodb:UpdateItem the tasks table if it reports progress, dynamodb:Query it if it works in steps, s3:PutObject large results, s3:PutObject and s3:GetObject large results of steps`,
      );
      return;
    }
    this.#policy ??= this.#make();
    this.#policy.attachToRole(role);
    if (!files) return;
    this.#files ??= this.#makeFiles();
    this.#files.attachToRole(role);
  }

  #makeFiles(): Policy {
    const files = this.#targets.results.arnForObjects('files/*');
    acknowledgeWildcard(this.#scope, files, 'The files of all tasks');
    const actions = ['s3:PutObject'];
    return new Policy(this.#scope, 'Files', {
      statements: [
        // Only new objects: no tool can replace a file (docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes-enforce.html).
        new PolicyStatement({ actions, resources: [files], conditions: { Null: { 's3:if-none-match': 'false' } } }),
        // The parts of an upload, and its beginning, take no condition. Its end does.
        new PolicyStatement({
          actions,
          resources: [files],
          conditions: { Bool: { 's3:ObjectCreationOperation': 'false' } },
        }),
        new PolicyStatement({ actions: ['s3:AbortMultipartUpload'], resources: [files] }),
      ],
    });
  }

  #make(): Policy {
    const steps = this.#targets.results.arnForObjects('steps/*');
    acknowledgeWildcard(this.#scope, steps, 'The large results of the steps of all tasks');
    return new Policy(this.#scope, 'Progress', { statements: statements(this.#scope, this.#targets) });
  }
}

/** Only items beside the records. */
const BESIDE = {
  'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [`${PROGRESS_PARTITION}*`] },
  // ForAllValues holds for a request without the key.
  Null: { 'dynamodb:LeadingKeys': 'false' },
} as const;

function statements(scope: Construct, { table, results, encryptionKey }: ReportTargets): PolicyStatement[] {
  return [
    new PolicyStatement({
      actions: ['dynamodb:UpdateItem'],
      resources: [table.tableArn],
      conditions: {
        ...BESIDE,
        'ForAllValues:StringEquals': { 'dynamodb:Attributes': RUN_WRITES },
        StringEqualsIfExists: { 'dynamodb:ReturnValues': 'NONE' },
      },
    }),
    new PolicyStatement({
      actions: ['dynamodb:Query'],
      // Not its indexes.
      resources: [table.tableArn],
      conditions: {
        ...BESIDE,
        'ForAllValues:StringEquals': { 'dynamodb:Attributes': RUN_QUERIES },
        StringEquals: { 'dynamodb:Select': 'SPECIFIC_ATTRIBUTES' },
      },
    }),
    new PolicyStatement({
      actions: ['dynamodb:GetItem'],
      resources: [table.tableArn],
      conditions: {
        'ForAllValues:StringEquals': { 'dynamodb:Attributes': RUN_READS },
        // IAM's example for GetItem has this. The key is documented for Query and Scan only (docs/verify-on-aws.md).
        StringEqualsIfExists: { 'dynamodb:Select': 'SPECIFIC_ATTRIBUTES' },
      },
    }),
    new PolicyStatement({ actions: ['s3:PutObject'], resources: [results.arnForObjects('results/*')] }),
    new PolicyStatement({ actions: ['s3:GetObject', 's3:PutObject'], resources: [results.arnForObjects('steps/*')] }),
    ...keyStatements(scope, encryptionKey, ['dynamodb', 's3Read', 's3Write']),
  ];
}
