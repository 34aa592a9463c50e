import { RemovalPolicy } from 'aws-cdk-lib';
import {
  AttributeType,
  Billing,
  type ITable,
  ProjectionType,
  StreamViewType,
  TableEncryptionV2,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import { INDEXES, KEY } from '../../functions/tasks/attributes.ts';
import type { OperationProps } from '../server-props.ts';
import { warmThroughput } from '../server-settings.ts';

/**
 * Makes the tasks table (docs/architecture/tasks.md, "The task record"). The owner is part of the key, so a foreign task
 * is not found. The sparse index `due` holds unfinished tasks only. The index `status` is for the lists of operators: it
 * holds only tasks, as other items have no status. Another index needs a release of its own: CloudFormation makes one in an
 * update of a table.
 */
export function taskTable(scope: Construct, props: OperationProps): ITable {
  const { removalPolicy = RemovalPolicy.RETAIN, encryptionKey } = props;
  const asked = warmThroughput(props);
  const warm = asked && { warmThroughput: asked };
  return new TableV2(scope, 'Tasks', {
    partitionKey: { name: KEY.partition, type: AttributeType.STRING },
    sortKey: { name: KEY.sort, type: AttributeType.STRING },
    billing: Billing.onDemand(),
    timeToLiveAttribute: 'expiresAt',
    dynamoStream: StreamViewType.NEW_AND_OLD_IMAGES,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    removalPolicy,
    deletionProtection: props.deletionProtection ?? removalPolicy !== RemovalPolicy.DESTROY,
    ...warm,
    ...(encryptionKey && { encryption: TableEncryptionV2.customerManagedKey(encryptionKey) }),
    globalSecondaryIndexes: [
      {
        ...index(INDEXES.due),
        ...warm,
        projectionType: ProjectionType.KEYS_ONLY,
      },
      {
        ...index(INDEXES.status),
        ...warm,
        // Tool and deadline never change, so only a new status writes into the index.
        projectionType: ProjectionType.INCLUDE,
        nonKeyAttributes: [...INDEXES.status.others],
      },
    ],
    // With exactOptionalPropertyTypes, CDK's classes do not fit their interfaces.
  }) as ITable;
}

const index = ({ name, partition, sort }: (typeof INDEXES)[keyof typeof INDEXES]) => ({
  indexName: name,
  partitionKey: { name: partition, type: AttributeType.STRING },
  sortKey: { name: sort, type: AttributeType.NUMBER },
});
