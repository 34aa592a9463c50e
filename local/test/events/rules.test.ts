import { describe, expect, test } from 'vitest';
import { startCloud } from '../../cloud.ts';
import { functionResource, writeAssembly } from '../fixture.ts';

const FN = { 'Fn::GetAtt': ['Fn', 'Arn'] };
const rule = (properties: object) => ({ Type: 'AWS::Events::Rule', Properties: properties });
const on = (pattern: object) => rule({ EventPattern: pattern, Targets: [{ Arn: FN, Id: 'T' }] });
const start = (resources: object) =>
  startCloud({ assembly: writeAssembly({ resources: { ...resources }, assets: { code: '' } }) });

describe('a rule is refused at start', () => {
  const unknown = (what: string) => `the embedded cloud does not know ${what} of AWS::Events::Rule (stack Test, Rule)`;
  const REFUSED: [name: string, rule: object, message: string][] = [
    [
      'for a cron expression',
      rule({ ScheduleExpression: 'cron(0 12 * * ? *)' }),
      unknown('ScheduleExpression "cron(0 12 * * ? *)"'),
    ],
    ['even while it is disabled', rule({ ScheduleExpression: 'rate(x)', State: 'DISABLED' }), 'rate(x)'],
    ['for another state', rule({ State: 'ASLEEP' }), unknown('State "ASLEEP"')],
    ['for a bus that is not in the template', rule({ EventBusName: 'mine' }), unknown('EventBusName "mine"')],
    ['for events of others', on({ source: ['aws.s3'] }), unknown('EventPattern.source ["aws.s3"]')],
    ['for events of clients and of others', on({ source: ['a', 'aws.s3'] }), 'EventPattern.source ["a","aws.s3"]'],
    [
      'for sources that may belong to AWS',
      on({ source: [{ prefix: 'a' }] }),
      unknown('EventPattern.source [{"prefix":"a"}]'),
    ],
    [
      'for a schedule on another bus than the default one',
      rule({ ScheduleExpression: 'rate(1 day)', EventBusName: { Ref: 'Bus' } }),
      unknown('ScheduleExpression "rate(1 day)"'),
    ],
    [
      'for events of AWS on another bus than the default one',
      rule({ EventPattern: { source: ['aws.s3'] }, EventBusName: { Ref: 'Bus' } }),
      unknown('EventPattern.source ["aws.s3"]'),
    ],
    ['for events without a source', on({ detail: { status: ['FAILED'] } }), unknown('EventPattern.source undefined')],
    [
      'for other events of Step Functions',
      on({ source: ['aws.states'], 'detail-type': ['Something Else'] }),
      unknown('EventPattern.detail-type ["Something Else"]'),
    ],
    [
      'for a comparison it does not know',
      on({ source: ['aws.states'], detail: { status: [{ cidr: '10.0.0.0/24' }] } }),
      unknown('EventPattern.detail.status {"cidr":"10.0.0.0/24"}'),
    ],
    [
      'for a target that is neither a function nor a queue of the template',
      rule({ ScheduleExpression: 'rate(1 day)', Targets: [{ Arn: 'arn:aws:sns:us-east-1:000000000000:t', Id: 'T' }] }),
      unknown('Targets[].Arn "arn:aws:sns:us-east-1:000000000000:t"'),
    ],
    [
      'for a target that is a state machine',
      rule({ ScheduleExpression: 'rate(1 day)', Targets: [{ Arn: FN, Id: 'T', RoleArn: 'x' }] }),
      'the property Targets[].RoleArn of AWS::Events::Rule',
    ],
    [
      'for an input made of parts of the event',
      rule({ Targets: [{ Arn: FN, Id: 'T', InputPath: '$.detail' }] }),
      'the property Targets[].InputPath',
    ],
    [
      'for a dead letter queue outside the template',
      rule({ Targets: [{ Arn: FN, Id: 'T', DeadLetterConfig: { Arn: 'arn:aws:sqs:us-east-1:1:other' } }] }),
      unknown('Targets[].DeadLetterConfig.Arn "arn:aws:sqs:us-east-1:1:other"'),
    ],
  ];
  test.each(REFUSED)('%s', async (_name, made, message) => {
    const Bus = { Type: 'AWS::Events::EventBus', Properties: { Name: 'other' } };
    await expect(start({ Fn: functionResource('code'), Bus, Rule: made })).rejects.toThrow(message);
  });

  const config = (properties: object) => ({
    Fn: functionResource('code'),
    Config: {
      Type: 'AWS::Lambda::EventInvokeConfig',
      Properties: { FunctionName: { Ref: 'Fn' }, Qualifier: '$LATEST', ...properties },
    },
  });
  test.each([
    ['for a version', config({ Qualifier: 'live' }), 'Qualifier "live"'],
    [
      'for a destination elsewhere',
      config({ DestinationConfig: { OnFailure: { Destination: 'arn:x' } } }),
      'DestinationConfig.OnFailure.Destination "arn:x"',
    ],
    ['for a destination of successes', config({ DestinationConfig: { OnSuccess: {} } }), 'DestinationConfig.OnSuccess'],
  ])('asynchronous invocation, %s', async (_name, resources, message) => {
    await expect(start(resources)).rejects.toThrow(`${message} of AWS::Lambda::EventInvokeConfig (stack Test, Config)`);
  });
});

test('only enabled schedules can be fired, by name', async () => {
  const Targets = [{ Arn: FN, Id: 'T' }];
  const assembly = writeAssembly({
    assets: { code: 'export const handler = async (event) => event;' },
    resources: {
      Fn: functionResource('code'),
      May: {
        Type: 'AWS::Lambda::Permission',
        Properties: { Action: 'lambda:InvokeFunction', FunctionName: FN, Principal: 'events.amazonaws.com' },
      },
      Own: rule({ Name: 'own-name', ScheduleExpression: 'rate(1 day)', Targets }),
      Constant: rule({ ScheduleExpression: 'rate(1 day)', Targets: [{ Arn: FN, Id: 'T', Input: '{"constant":1}' }] }),
      Off: rule({ ScheduleExpression: 'rate(1 day)', State: 'DISABLED', Targets }),
    },
  });
  const cloud = await startCloud({ assembly });
  try {
    const { schedules } = cloud;
    expect(schedules.names).toEqual(['own-name', 'Test-Constant']);
    await expect(schedules.fire('Off')).rejects.toThrow('there is no enabled schedule Off');
    const fired = [...(await schedules.fire('own-name')), ...(await schedules.fire('Constant'))];
    const arn = 'arn:aws:events:us-east-1:000000000000:rule/own-name';
    expect(fired.map((result) => JSON.parse(result?.payload ?? ''))).toMatchObject([
      { 'detail-type': 'Scheduled Event', resources: [arn], detail: {} },
      { constant: 1 },
    ]);
    expect(await schedules.fire()).toHaveLength(2);
  } finally {
    await cloud.stop();
  }
});
