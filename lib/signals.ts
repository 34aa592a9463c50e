import { Duration } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Code, IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { OWNERS, PROGRESS_PARTITION, RECEIVED, RUN_QUERIES, SIGNAL_PARTITION } from '../functions/tasks/attributes.ts';
import { acknowledgeWildcard } from './nag.ts';
import { allow, serverFunction } from './server-function.ts';
import { allowKey } from './storage/kms-grants.ts';
import type { StorageProps } from './storage/log-group.ts';

export interface SignalsProps {
  readonly code: Code;
  readonly table: ITable;
  readonly results: IBucket;
  readonly storage: StorageProps;
}

/**
 * Takes the answers of people and the requests of other systems that tools wait for (docs/architecture/requests.md, "Signals"). No
 * authorizer is before it: the URL is the key. So it may store a signal, and nothing else: it starts no run and changes no status.
 */
export class Signals extends Construct {
  readonly function: IFunction;

  constructor(scope: Construct, id: string, { code, table, results, storage }: SignalsProps) {
    super(scope, id);
    this.function = serverFunction(
      this,
      'Function',
      {
        description: 'Takes signals of people and other systems for MCP tasks that wait',
        code,
        memorySize: 256,
        timeout: Duration.seconds(15),
        environment: { TASKS_TABLE: table.tableName, RESULTS_BUCKET: results.bucketName },
      },
      storage,
    );
    this.#allowTable(['dynamodb:GetItem'], [...OWNERS, `${SIGNAL_PARTITION}*`], table);
    this.#allowTable(['dynamodb:UpdateItem'], OWNERS, table, {
      'ForAllValues:StringEquals': { 'dynamodb:Attributes': RECEIVED },
      StringEqualsIfExists: { 'dynamodb:ReturnValues': 'NONE' },
    });
    this.#allowTable(['dynamodb:Query'], [`${PROGRESS_PARTITION}*`], table, {
      'ForAllValues:StringEquals': { 'dynamodb:Attributes': RUN_QUERIES },
      StringEquals: { 'dynamodb:Select': 'SPECIFIC_ATTRIBUTES' },
    });
    const [inputs, steps] = [results.arnForObjects('inputs/*'), results.arnForObjects('steps/*')];
    allow(this.function, ['s3:GetObject', 's3:PutObject'], inputs);
    allow(this.function, ['s3:GetObject'], steps);
    acknowledgeWildcard(this, inputs, 'The input of all tasks');
    acknowledgeWildcard(this, steps, 'Large questions of all tasks');
    allowKey(this.function, this, storage.encryptionKey, ['dynamodb', 's3Read', 's3Write']);
  }

  /** Allows actions on the items of some partitions. */
  #allowTable(actions: string[], partitions: readonly string[], table: ITable, conditions: object = {}): void {
    const statement = new PolicyStatement({
      actions,
      resources: [table.tableArn],
      conditions: {
        'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': partitions },
        // ForAllValues holds for a request without the key.
        Null: { 'dynamodb:LeadingKeys': 'false' },
        ...conditions,
      },
    });
    this.function.addToRolePolicy(statement);
  }
}
