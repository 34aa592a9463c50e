import { App, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import { NAMESPACE } from '../../functions/tasks/log.ts';
import { Auth, McpTaskServer } from '../../lib/index.ts';
import { inlineFunction } from '../support/inline-function.ts';

const stack = new Stack(new App(), 'S');
const handler = inlineFunction(stack);
const server = new McpTaskServer(stack, 'Server', { auth: Auth.anonymous() });
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
const prefix = String(machine?.Properties.StateMachineName).replace(/standard$/, '');
const arnOf = (type: string, id: string) => ({ 'Fn::GetAtt': [only(type, id)[0], 'Arn'] });
const queue = arnOf('AWS::SQS::Queue', 'ReconcilerDeadLetters');
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
          CHECKS_PER_SECOND: '6',
        },
      },
    });
  });

  test('takes no concurrency away from an account that may have little', () => {
    for (const { Properties } of Object.values(template.findResources('AWS::Lambda::Function'))) {
      expect(Properties).not.toHaveProperty('ReservedConcurrentExecutions');
    }
  });

  test('gets each run of this server that fails; undelivered events are kept', () => {
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

  test('is run again twice after a failure; events that fail for good are kept', () => {
    template.hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
      FunctionName: { Ref: only('AWS::Lambda::Function', 'ReconcilerFunction')[0] },
      MaximumEventAgeInSeconds: 21_600,
      MaximumRetryAttempts: 2,
      DestinationConfig: { OnFailure: { Destination: queue } },
    });
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

  test('a message in the dead letter queue', () => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: 'AWS/SQS',
      MetricName: 'ApproximateNumberOfMessagesVisible',
      Dimensions: [
        {
          Name: 'QueueName',
          Value: { 'Fn::GetAtt': [only('AWS::SQS::Queue', 'ReconcilerDeadLetters')[0], 'QueueName'] },
        },
      ],
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      Threshold: 1,
      TreatMissingData: 'notBreaching',
    });
  });

  test('are properties, so that the app adds their actions', () => {
    expect(server.alarms).toHaveLength(4);
    for (const { Properties } of Object.values(template.findResources('AWS::CloudWatch::Alarm'))) {
      expect(Properties).not.toHaveProperty('AlarmActions');
    }
  });
});
