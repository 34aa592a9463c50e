// biome-ignore-all lint/suspicious/noTemplateCurlyInString: CloudFormation writes substitutions like this.
import { App, CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import { EndpointType, LambdaIntegration, ResponseTransferMode, RestApi } from 'aws-cdk-lib/aws-apigateway';
import { AttributeType, ProjectionType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Runtime } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { DefinitionBody, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';

/** A small app with every kind of resource: an endpoint starts a machine, which runs a function and writes a table. */
const app = new App();
const stack = new Stack(app, 'Small');

const table = new TableV2(stack, 'Table', {
  partitionKey: { name: 'id', type: AttributeType.STRING },
  timeToLiveAttribute: 'expiresAt',
  globalSecondaryIndexes: [
    {
      indexName: 'due',
      partitionKey: { name: 'due', type: AttributeType.STRING },
      projectionType: ProjectionType.KEYS_ONLY,
    },
  ],
});
const secret = new Secret(stack, 'Secret', { generateSecretString: { passwordLength: 40, excludePunctuation: true } });

const lambda = (name: string, environment: Record<string, string>) =>
  new NodejsFunction(stack, name, {
    entry: `local/test/app/${name.toLowerCase()}.ts`,
    runtime: Runtime.NODEJS_24_X,
    timeout: Duration.seconds(10),
    bundling: { bundleAwsSDK: true },
    environment,
  });

const work = lambda('Work', {});
const machine = new StateMachine(stack, 'Machine', {
  definitionBody: DefinitionBody.fromString(
    JSON.stringify({
      QueryLanguage: 'JSONata',
      StartAt: 'Run',
      States: {
        Run: {
          Type: 'Task',
          Resource: 'arn:aws:states:::lambda:invoke',
          Arguments: { FunctionName: '${Function}', Payload: { id: '{% $states.input.id %}' } },
          Output: '{% $states.result.Payload %}',
          Next: 'Finish',
        },
        Finish: {
          Type: 'Task',
          Resource: 'arn:aws:states:::dynamodb:updateItem',
          Arguments: {
            TableName: '${Table}',
            Key: { id: { S: '{% $states.input.id %}' } },
            UpdateExpression: 'SET answer = :answer REMOVE due',
            ConditionExpression: 'attribute_exists(id)',
            ExpressionAttributeValues: { ':answer': { S: '{% $states.input.answer %}' } },
          },
          End: true,
        },
      },
    }),
  ),
  definitionSubstitutions: { Function: work.functionArn, Table: table.tableName },
});
work.grantInvoke(machine);
table.grantWriteData(machine);

const endpoint = lambda('Endpoint', {
  TABLE: table.tableName,
  MACHINE: machine.stateMachineArn,
  SECRET: secret.secretArn,
});
table.grantReadWriteData(endpoint);
machine.grantStartExecution(endpoint);
secret.grantRead(endpoint);

const api = new RestApi(stack, 'Api', { endpointTypes: [EndpointType.REGIONAL] });
const streaming = { responseTransferMode: ResponseTransferMode.STREAM };
api.root.addResource('start').addMethod('POST', new LambdaIntegration(endpoint, streaming));
api.root.addResource('plain').addMethod('GET', new LambdaIntegration(work));

new CfnOutput(stack, 'TableName', { value: table.tableName });
new CfnOutput(stack, 'MachineArn', { value: machine.stateMachineArn });
