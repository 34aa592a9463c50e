import { App, CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import { EndpointType, LambdaIntegration, ResponseTransferMode, RestApi } from 'aws-cdk-lib/aws-apigateway';
import { AttributeType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Runtime } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { DefinitionBody, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';

/** A function that writes a table, a machine that invokes it and also writes, an API, and a rule. */
const stack = new Stack(new App(), 'Faulty');

const table = new TableV2(stack, 'Table', { partitionKey: { name: 'id', type: AttributeType.STRING } });
const secret = new Secret(stack, 'Secret');
const lambda = (name: string, handler: string) =>
  new NodejsFunction(stack, name, {
    entry: 'local/test/faults/functions.ts',
    handler,
    runtime: Runtime.NODEJS_24_X,
    timeout: Duration.seconds(10),
    bundling: { bundleAwsSDK: true },
    environment: { TABLE: table.tableName },
  });
const writer = lambda('Writer', 'write');
const streamer = lambda('Streamer', 'stream');

const machine = new StateMachine(stack, 'Machine', {
  definitionBody: DefinitionBody.fromString(
    JSON.stringify({
      QueryLanguage: 'JSONata',
      StartAt: 'Run',
      States: {
        Run: {
          Type: 'Task',
          Resource: 'arn:aws:states:::lambda:invoke',
          Arguments: { FunctionName: writer.functionName, Payload: '{% $states.input %}' },
          Output: '{% $states.input %}',
          Next: 'Finish',
        },
        Finish: {
          Type: 'Task',
          Resource: 'arn:aws:states:::dynamodb:updateItem',
          Arguments: {
            TableName: table.tableName,
            Key: { id: { S: '{% $states.input.id %}' } },
            UpdateExpression: 'SET finished = :at',
            ExpressionAttributeValues: { ':at': { N: '{% $string($millis()) %}' } },
          },
          End: true,
        },
      },
    }),
  ),
});

table.grantWriteData(writer);
writer.grantInvoke(machine);
table.grantWriteData(machine);

const api = new RestApi(stack, 'Api', { endpointTypes: [EndpointType.REGIONAL] });
const streaming = { responseTransferMode: ResponseTransferMode.STREAM };
api.root.addResource('stream').addMethod('POST', new LambdaIntegration(streamer, streaming));
api.root.addResource('page').addMethod('POST', new LambdaIntegration(lambda('Page', 'page')));

const undelivered = new Queue(stack, 'Undelivered');
new Rule(stack, 'Tick', {
  schedule: Schedule.rate(Duration.days(1)),
  targets: [new LambdaFunction(lambda('Ticker', 'tick'), { deadLetterQueue: undelivered, retryAttempts: 1 })],
});

new CfnOutput(stack, 'TableName', { value: table.tableName });
new CfnOutput(stack, 'SecretArn', { value: secret.secretArn });
new CfnOutput(stack, 'MachineArn', { value: machine.stateMachineArn });
new CfnOutput(stack, 'WriterName', { value: writer.functionName });
new CfnOutput(stack, 'UndeliveredName', { value: undelivered.queueName });
