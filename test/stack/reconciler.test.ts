import { App, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { describe, expect, test } from 'vitest';
import { NAMESPACE } from '../../functions/reconciler/metrics.ts';
import { anonymous, McpTaskServer } from '../../lib/index.ts';

const stack = new Stack(new App(), 'S');
const code = Code.fromInline('exports.handler = async () => 1');
const handler = new LambdaFunction(stack, 'F', { runtime: Runtime.NODEJS_24_X, handler: 'index.handler', code });
const server = new McpTaskServer(stack, 'Server', { auth: anonymous() });
server.addTool('later', { handler, description: 'd', inputSchema: { type: 'object' }, taskSupport: 'required' });
const template = Template.fromStack(stack);

type Resource = { Properties: Record<string, never> };
const only = (type: string, id: string): [string, Resource] => {
  const found = Object.entries(template.findResources(type)).filter(([name]) => name.includes(id));
  if (found.length !== 1 || found[0] === undefined) throw new Error(`${found.length} of ${type} ${id}`);
  return found[0] as [string, Resource];
};
const pseudo = (name: string) => ({ Ref: `AWS::${name}` });
const states = (...rest: string[]) => ({
  'Fn::Join': ['', ['arn:', pseudo('Partition'), ':states:', pseudo('Region'), ':', pseudo('AccountId'), ...rest]],
});
const [machine] = Object.values(template.findResources('AWS::StepFunctions::StateMachine'));
const prefix = String(machine?.Properties.StateMachineName).replace(/later$/, '');
const arnOf = (type: string, id: string) => ({ 'Fn::GetAtt': [only(type, id)[0], 'Arn'] });
const table = arnOf('AWS::DynamoDB::GlobalTable', 'Tasks');
const queue = arnOf('AWS::SQS::Queue', 'DeadLetters');
const reconciler = arnOf('AWS::Lambda::Function', 'ReconcilerFunction');

describe('the reconciler', () => {
  test('is a Node 24 function on arm64 that has a minute', () => {
    expect(only('AWS::Lambda::Function', 'ReconcilerFunction')[1].Properties).toMatchObject({
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      MemorySize: 512,
      Timeout: 60,
      Environment: {
        Variables: {
          TASKS_TABLE: { Ref: expect.stringMatching('Tasks') },
          MACHINE_ARN_PREFIX: states(`:stateMachine:${prefix}`),
          SERVER_NAME: prefix.slice(0, -1),
        },
      },
    });
  });

  test('takes no concurrency away from an account that may have little', () => {
    for (const { Properties } of Object.values(template.findResources('AWS::Lambda::Function'))) {
      expect(Properties).not.toHaveProperty('ReservedConcurrentExecutions');
    }
  });

  test('gets each run of this server that ends badly; what a day cannot deliver is kept', () => {
    template.hasResourceProperties('AWS::Events::Rule', {
      EventPattern: {
        source: ['aws.states'],
        'detail-type': ['Step Functions Execution Status Change'],
        detail: {
          status: ['FAILED', 'TIMED_OUT', 'ABORTED'],
          stateMachineArn: [{ prefix: states(`:stateMachine:${prefix}`) }],
        },
      },
      Targets: [
        {
          Arn: reconciler,
          Id: Match.anyValue(),
          DeadLetterConfig: { Arn: queue },
          RetryPolicy: { MaximumEventAgeInSeconds: 86_400, MaximumRetryAttempts: 185 },
        },
      ],
    });
  });

  test('sweeps once a minute; a tick that is late is dropped', () => {
    template.hasResourceProperties('AWS::Events::Rule', {
      ScheduleExpression: 'rate(1 minute)',
      Targets: [
        {
          Arn: reconciler,
          Id: Match.anyValue(),
          RetryPolicy: { MaximumEventAgeInSeconds: 60, MaximumRetryAttempts: 0 },
        },
      ],
    });
  });

  test('is run again after a failure, twice, and what failed for good is kept', () => {
    template.hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
      FunctionName: { Ref: only('AWS::Lambda::Function', 'ReconcilerFunction')[0] },
      MaximumEventAgeInSeconds: 21_600,
      MaximumRetryAttempts: 2,
      DestinationConfig: { OnFailure: { Destination: queue } },
    });
  });

  test('may do what it does, to the tasks and runs of this server, and nothing else', () => {
    const { PolicyDocument } = only('AWS::IAM::Policy', 'ReconcilerRole')[1].Properties;
    const allow = (Action: unknown, Resource: unknown) => ({ Effect: 'Allow', Action, Resource });
    expect(PolicyDocument).toEqual({
      Version: '2012-10-17',
      Statement: [
        allow(['logs:CreateLogStream', 'logs:PutLogEvents'], arnOf('AWS::Logs::LogGroup', 'ReconcilerLogs')),
        allow('dynamodb:Query', { 'Fn::Join': ['', [table, '/index/due']] }),
        allow(['dynamodb:GetItem', 'dynamodb:UpdateItem'], table),
        // The input of a task, to start its next round.
        allow('s3:GetObject', { 'Fn::Join': ['', [arnOf('AWS::S3::Bucket', 'Results'), '/inputs/*']] }),
        allow(['states:DescribeExecution', 'states:StopExecution'], states(`:execution:${prefix}*:*`)),
        allow('states:StartExecution', states(`:stateMachine:${prefix}*`)),
        allow('sqs:SendMessage', queue),
      ],
    });
    expect(only('AWS::IAM::Role', 'ReconcilerRole')[1].Properties).not.toHaveProperty('ManagedPolicyArns');
  });

  test('the queue is encrypted, and reached over TLS only', () => {
    template.hasResourceProperties('AWS::SQS::Queue', {
      SqsManagedSseEnabled: true,
      MessageRetentionPeriod: 345_600,
    });
    template.hasResourceProperties('AWS::SQS::QueuePolicy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
        ]),
      },
    });
  });
});

describe('its alarms', () => {
  test('no heartbeat for five minutes (row 21)', () => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: NAMESPACE,
      MetricName: 'Sweep',
      Dimensions: [{ Name: 'Server', Value: prefix.slice(0, -1) }],
      Statistic: 'Sum',
      Period: 60,
      EvaluationPeriods: 5,
      ComparisonOperator: 'LessThanThreshold',
      Threshold: 1,
      TreatMissingData: 'breaching',
    });
  });

  test('something in the dead letter queue', () => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: 'AWS/SQS',
      MetricName: 'ApproximateNumberOfMessagesVisible',
      Dimensions: [
        { Name: 'QueueName', Value: { 'Fn::GetAtt': [only('AWS::SQS::Queue', 'DeadLetters')[0], 'QueueName'] } },
      ],
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      Threshold: 1,
      TreatMissingData: 'notBreaching',
    });
  });

  test('are there for the app to say whom they notify', () => {
    expect(server.alarms).toHaveLength(2);
    for (const { Properties } of Object.values(template.findResources('AWS::CloudWatch::Alarm'))) {
      expect(Properties).not.toHaveProperty('AlarmActions');
    }
  });
});
