import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { Match } from 'aws-cdk-lib/assertions';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { describe, expect, test } from 'vitest';
import { propertiesOf, synth } from './synth.ts';

describe('without options', () => {
  const template = synth();

  test('the table cannot be deleted, logs are kept for a month, and requests are throttled', () => {
    template.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      Replicas: [Match.objectLike({ DeletionProtectionEnabled: true })],
    });
    const retentions = propertiesOf(template, 'AWS::Logs::LogGroup').map(({ RetentionInDays }) => RetentionInDays);
    expect(retentions).toEqual(Array(9).fill(30));
    template.hasResourceProperties('AWS::ApiGateway::Stage', {
      MethodSettings: [
        Match.objectLike({
          ResourcePath: '/*',
          HttpMethod: '*',
          ThrottlingRateLimit: 1_000,
          ThrottlingBurstLimit: 2_000,
        }),
        // A flood of signals leaves the rest to clients. API Gateway takes no limits for ANY.
        ...['GET', 'HEAD', 'POST'].map((HttpMethod) =>
          Match.objectLike({
            ResourcePath: '/~1signals~1{place}~1{name}~1{mac}',
            HttpMethod,
            ThrottlingRateLimit: 200,
            ThrottlingBurstLimit: 400,
          }),
        ),
      ],
      AccessLogSetting: Match.absent(),
    });
  });

  test('no resource costs money, or is shared with others in the account', () => {
    const types = new Set(
      Object.values(template.toJSON().Resources as Record<string, { Type: string }>).map((r) => r.Type),
    );
    expect([...types].filter((type) => /WAF|KMS|DomainName|Route53|ApiGateway::Account/.test(type))).toEqual([]);
  });

  test('a trial stack can be deleted, table and all', () => {
    const trial = synth(() => ({ removalPolicy: RemovalPolicy.DESTROY }));
    trial.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      Replicas: [Match.objectLike({ DeletionProtectionEnabled: false })],
    });
  });
});

test('deletionProtection, logRetention, throttling and keyRotation change the defaults', () => {
  const template = synth(() => ({
    deletionProtection: false,
    logRetention: RetentionDays.ONE_YEAR,
    throttling: { rateLimit: 5.5, burstLimit: 7 },
    keyRotation: Duration.days(30),
    accessLogs: true,
  }));
  template.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
    Replicas: [Match.objectLike({ DeletionProtectionEnabled: false })],
  });
  const retentions = propertiesOf(template, 'AWS::Logs::LogGroup').map(({ RetentionInDays }) => RetentionInDays);
  expect(retentions).toEqual(Array(10).fill(365));
  const limits = { ThrottlingRateLimit: 5.5, ThrottlingBurstLimit: 7 };
  template.hasResourceProperties('AWS::ApiGateway::Stage', {
    MethodSettings: Array(4)
      .fill(limits)
      .map((one) => Match.objectLike(one)),
  });
  template.hasResourceProperties('AWS::SecretsManager::RotationSchedule', {
    RotationRules: { ScheduleExpression: 'rate(30 days)' },
  });
});
