import { App, CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import { AttributeType, type ITable, StreamViewType, Table, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { FilterCriteria, FilterRule, Runtime, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { DynamoEventSource, SqsDlq } from 'aws-cdk-lib/aws-lambda-event-sources';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { Queue } from 'aws-cdk-lib/aws-sqs';

/** A table of each kind with a stream, and a function that reads both, with the roles and mappings of CDK. */
const stack = new Stack(new App(), 'Streamed');

const partitionKey = { name: 'id', type: AttributeType.STRING };
const reader = new NodejsFunction(stack, 'Reader', {
  entry: 'local/test/event-source/reader.ts',
  runtime: Runtime.NODEJS_24_X,
});
const tables = {
  Global: new TableV2(stack, 'Global', { partitionKey, dynamoStream: StreamViewType.NEW_AND_OLD_IMAGES }),
  Plain: new Table(stack, 'Plain', { partitionKey, stream: StreamViewType.NEW_AND_OLD_IMAGES }),
};
const onFailure = new SqsDlq(new Queue(stack, 'Dead', { enforceSSL: true }));
for (const [name, table] of Object.entries(tables)) {
  reader.addEventSource(
    new DynamoEventSource(table as ITable, {
      startingPosition: StartingPosition.TRIM_HORIZON,
      batchSize: 100,
      bisectBatchOnError: true,
      reportBatchItemFailures: true,
      retryAttempts: 3,
      maxRecordAge: Duration.hours(1),
      filters: [FilterCriteria.filter({ eventName: FilterRule.isEqual('INSERT') })],
      onFailure,
    }),
  );
  new CfnOutput(stack, `${name}Name`, { value: table.tableName });
}
