import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { Key } from 'aws-cdk-lib/aws-kms';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { HostedZone } from 'aws-cdk-lib/aws-route53';
import { LogLevel } from 'aws-cdk-lib/aws-stepfunctions';
import { describe, expect, test } from 'vitest';
import { Auth, McpTaskServer, type McpTaskServerProps } from '../../lib/index.ts';
import { inlineFunction } from '../support/inline-function.ts';

function synth(propsOf: (stack: Stack) => Partial<McpTaskServerProps> = () => ({})) {
  const stack = new Stack(new App(), 'S', { env: { region: 'us-east-1' } });
  const handler = inlineFunction(stack);
  const auth = Auth.oauth({ issuer: 'https://login.example.com', audience: 'https://mcp.example.com/mcp' });
  const server = new McpTaskServer(stack, 'Server', { auth, ...propsOf(stack) });
  server.addTool('work', { handler, description: 'd', inputSchema: { type: 'object' }, taskSupport: 'required' });
  return Template.fromStack(stack);
}

const propertiesOf = (template: Template, type: string) =>
  Object.values(template.findResources(type)).map(({ Properties }) => Properties);
const certificateOf = (stack: Stack) =>
  Certificate.fromCertificateArn(stack, 'C', 'arn:aws:acm:us-east-1:000000000000:certificate/c');

describe('without options', () => {
  const template = synth();

  test('the table cannot be deleted, logs are kept for a month, and requests are throttled', () => {
    template.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      Replicas: [Match.objectLike({ DeletionProtectionEnabled: true })],
    });
    const retentions = propertiesOf(template, 'AWS::Logs::LogGroup').map(({ RetentionInDays }) => RetentionInDays);
    expect(retentions).toEqual(Array(8).fill(30));
    template.hasResourceProperties('AWS::ApiGateway::Stage', {
      MethodSettings: [
        Match.objectLike({
          ResourcePath: '/*',
          HttpMethod: '*',
          ThrottlingRateLimit: 1_000,
          ThrottlingBurstLimit: 2_000,
        }),
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
  expect(retentions).toEqual(Array(9).fill(365));
  const limits = { ThrottlingRateLimit: 5.5, ThrottlingBurstLimit: 7 };
  template.hasResourceProperties('AWS::ApiGateway::Stage', { MethodSettings: [Match.objectLike(limits)] });
  template.hasResourceProperties('AWS::SecretsManager::RotationSchedule', {
    RotationRules: { ScheduleExpression: 'rate(30 days)' },
  });
});

describe('the options for many tasks', () => {
  const levels = (template: Template) =>
    propertiesOf(template, 'AWS::StepFunctions::StateMachine').map(({ LoggingConfiguration: { Level } }) => Level);
  const variables = (template: Template, name: string) =>
    propertiesOf(template, 'AWS::Lambda::Function').flatMap(({ Environment }) => Environment?.Variables[name] ?? []);

  test('warmThroughput counts for the table and both indexes, as each alone would throttle it', () => {
    const [table] = propertiesOf(
      synth(() => ({ warmThroughput: { writeUnitsPerSecond: 8_000 } })),
      'AWS::DynamoDB::GlobalTable',
    );
    const warm = { WriteUnitsPerSecond: 8_000 };
    expect(table).toMatchObject({ WarmThroughput: warm });
    expect(table.GlobalSecondaryIndexes.map((index: object) => index)).toMatchObject([
      { IndexName: 'due', WarmThroughput: warm },
      { IndexName: 'status', WarmThroughput: warm },
    ]);
  });

  test('workflowLogLevel counts for all workflows; without data, as always', () => {
    const template = synth(() => ({ workflowLogLevel: LogLevel.ERROR }));
    expect(levels(template)).toEqual(Array(3).fill('ERROR'));
    for (const { LoggingConfiguration } of propertiesOf(template, 'AWS::StepFunctions::StateMachine')) {
      expect(LoggingConfiguration.IncludeExecutionData).toBe(false);
    }
  });

  test('sweepChecksPerSecond and metricsByTool reach their functions', () => {
    const template = synth(() => ({ sweepChecksPerSecond: 30, metricsByTool: false }));
    expect(variables(template, 'CHECKS_PER_SECOND')).toEqual(['30']);
    expect(variables(template, 'METRICS_BY_TOOL')).toEqual(['false']);
  });

  test('by default the table is as any new one, all is logged and measured, six runs are checked', () => {
    const template = synth();
    const [table] = propertiesOf(template, 'AWS::DynamoDB::GlobalTable');
    expect(JSON.stringify(table)).not.toContain('WarmThroughput');
    expect(levels(template)).toEqual(Array(3).fill('ALL'));
    expect(variables(template, 'CHECKS_PER_SECOND')).toEqual(['6']);
    expect(variables(template, 'METRICS_BY_TOOL')).toEqual(['true']);
  });

  test('without metrics of each tool, a tool has none, and says so', () => {
    const stack = new Stack(new App(), 'S');
    const server = new McpTaskServer(stack, 'Server', { auth: Auth.anonymous(), metricsByTool: false });
    const tool = server.addTool('work', {
      handler: inlineFunction(stack),
      description: 'd',
      inputSchema: { type: 'object' },
    });
    expect(() => tool.metricFailed()).toThrow("Tool 'work' has no metrics of its own: metricsByTool is false");
    expect(server.metricFailed().dimensions).toHaveProperty('Server');
  });

  test.each<[Partial<McpTaskServerProps>, string]>([
    [
      { warmThroughput: { writeUnitsPerSecond: 3_999 } },
      'warmThroughput: writeUnitsPerSecond is a whole number from 4000 on',
    ],
    [
      { warmThroughput: { readUnitsPerSecond: 12_000.5 } },
      'warmThroughput: readUnitsPerSecond is a whole number from 12000 on',
    ],
    [{ sweepChecksPerSecond: 0 }, 'sweepChecksPerSecond is a whole number from 1 to 100'],
    [{ sweepChecksPerSecond: 101 }, 'sweepChecksPerSecond is a whole number from 1 to 100'],
    [{ sweepChecksPerSecond: 1.5 }, 'sweepChecksPerSecond is a whole number from 1 to 100'],
    [{ workflowLogLevel: 'DEBUG' as LogLevel }, 'workflowLogLevel is one of OFF, ALL, ERROR, FATAL'],
  ])('are refused by name: %j', (props, message) => {
    expect(() => synth(() => props)).toThrow(`McpTaskServer: ${message}`);
  });
});

test('accessLogs are JSON about requests, with no text of a client or a tool', () => {
  const template = synth(() => ({ accessLogs: true }));
  const [{ AccessLogSetting: setting } = {}] = propertiesOf(template, 'AWS::ApiGateway::Stage');
  expect(setting.DestinationArn).toEqual({ 'Fn::GetAtt': [expect.stringContaining('AccessLogs'), 'Arn'] });
  const format = Object.values(JSON.parse(setting.Format)).map(String);
  // The one without `extended` is a header of the client, where it sends one.
  expect(format).toContain('$context.extendedRequestId');
  expect(format).not.toContain('$context.requestId');
  expect(format).toContain('$context.status');
  // There is no $input, no header, and no $context.path, which has a client's text.
  for (const value of format) expect(value).toMatch(/^\$context\.[\w.]+$/);
  expect(format.join()).not.toMatch(/authorizer|querystring|header|body|context\.path|userAgent/i);
});

describe('waf', () => {
  const associated = (template: Template) => propertiesOf(template, 'AWS::WAFv2::WebACLAssociation');
  const stage = {
    'Fn::Join': ['', expect.arrayContaining([':/restapis/', '/stages/'].map((x) => expect.stringContaining(x)))],
  };

  test('true: rules that AWS maintains; no rule about a body blocks', () => {
    const template = synth(() => ({ waf: true }));
    const [{ Scope, DefaultAction, Rules, VisibilityConfig } = {}] = propertiesOf(template, 'AWS::WAFv2::WebACL');
    expect([Scope, DefaultAction]).toEqual(['REGIONAL', { Allow: {} }]);
    const groups = Rules.map(
      (rule: { Statement: { ManagedRuleGroupStatement: { Name: string; RuleActionOverrides: unknown } } }) => {
        const { Name, RuleActionOverrides } = rule.Statement.ManagedRuleGroupStatement;
        return [Name, RuleActionOverrides];
      },
    );
    const counted = (...names: string[]) => names.map((Name) => ({ Name, ActionToUse: { Count: {} } }));
    expect(groups).toEqual([
      ['AWSManagedRulesAmazonIpReputationList', []],
      [
        'AWSManagedRulesKnownBadInputsRuleSet',
        counted('JavaDeserializationRCE_BODY', 'Log4JRCE_BODY', 'ReactJSRCE_BODY'),
      ],
      [
        'AWSManagedRulesCommonRuleSet',
        counted(
          ...['SizeRestrictions_BODY', 'EC2MetaDataSSRF_BODY', 'GenericLFI_BODY', 'GenericRFI_BODY'],
          ...['CrossSiteScripting_BODY', 'NoUserAgent_HEADER'],
        ),
      ],
    ]);
    // Samples would hold access tokens.
    const visible = [VisibilityConfig, ...Rules.map((rule: { VisibilityConfig: object }) => rule.VisibilityConfig)];
    for (const config of visible) expect(config.SampledRequestsEnabled).toBe(false);
    expect(associated(template)).toEqual([
      { ResourceArn: stage, WebACLArn: { 'Fn::GetAtt': [expect.stringContaining('WebAcl'), 'Arn'] } },
    ]);
  });

  test('an ARN: the given ACL is used, and no other is made', () => {
    const arn = 'arn:aws:wafv2:eu-west-1:000000000000:regional/webacl/mine/1';
    const template = synth(() => ({ waf: arn }));
    expect(associated(template)).toEqual([{ ResourceArn: stage, WebACLArn: arn }]);
    template.resourceCountIs('AWS::WAFv2::WebACL', 0);
  });
});

describe('domain', () => {
  const name = 'mcp.example.com';
  const props = (stack: Stack, more = {}) => ({ domain: { name, certificate: certificateOf(stack), ...more } });

  test('is the only name of the API, with an empty base path, and its URL for OAuth', () => {
    const template = synth(props);
    template.hasResourceProperties('AWS::ApiGateway::RestApi', { DisableExecuteApiEndpoint: true });
    template.hasResourceProperties('AWS::ApiGateway::DomainName', {
      DomainName: name,
      EndpointConfiguration: { Types: ['REGIONAL'] },
      SecurityPolicy: 'TLS_1_2',
    });
    template.hasResourceProperties('AWS::ApiGateway::BasePathMapping', {
      BasePath: Match.absent(),
      Stage: { Ref: Match.stringLikeRegexp('v1') },
    });
    const outputs = JSON.stringify(template.toJSON().Outputs);
    expect(outputs).toContain(`"https://${name}/mcp"`);
    expect(outputs).not.toMatch(/execute-api\.us-east-1/);
    expect(outputs).toMatch(/DomainTarget.*RegionalDomainName/);
    const refusals = JSON.stringify(propertiesOf(template, 'AWS::ApiGateway::GatewayResponse'));
    expect(refusals).toContain(`https://${name}/.well-known/oauth-protected-resource/mcp`);
  });

  test('is entered in a hosted zone, where there is one', () => {
    const zone = { hostedZoneId: 'Z1', zoneName: 'example.com' };
    const template = synth((stack) =>
      props(stack, { hostedZone: HostedZone.fromHostedZoneAttributes(stack, 'Z', zone) }),
    );
    template.hasResourceProperties('AWS::Route53::RecordSet', { Name: `${name}.`, Type: 'A', HostedZoneId: 'Z1' });
    expect(JSON.stringify(template.toJSON().Outputs)).not.toContain('DomainTarget');
  });
});

describe('encryptionKey', () => {
  const template = synth((stack) => ({ encryptionKey: new Key(stack, 'K'), accessLogs: true }));
  const key = { 'Fn::GetAtt': [expect.stringMatching(/^K/), 'Arn'] };

  test('encrypts the table, results, the signing key, dead letters, runs and all logs', () => {
    const encrypted = (type: string) => JSON.stringify(propertiesOf(template, type));
    for (const type of ['DynamoDB::GlobalTable', 'S3::Bucket', 'SQS::Queue', 'SecretsManager::Secret']) {
      expect([type, encrypted(`AWS::${type}`)]).toEqual([
        type,
        expect.stringMatching(/"(KMSMasterKeyI[Dd]|KmsMasterKeyId|KmsKeyId)":\{"Fn::GetAtt":\["K/),
      ]);
    }
    for (const { EncryptionConfiguration } of propertiesOf(template, 'AWS::StepFunctions::StateMachine')) {
      expect(EncryptionConfiguration).toMatchObject({ Type: 'CUSTOMER_MANAGED_KMS_KEY', KmsKeyId: key });
    }
    const groups = propertiesOf(template, 'AWS::Logs::LogGroup');
    expect(groups).toHaveLength(9);
    for (const { KmsKeyId } of groups) expect(KmsKeyId).toEqual(key);
  });

  test('its runs and their logs may use it', () => {
    const said = JSON.stringify(propertiesOf(template, 'AWS::IAM::Policy'));
    for (const name of ['aws:states:stateMachineArn', 'SourceArn'])
      expect(said).toContain(`kms:EncryptionContext:${name}`);
    const [{ KeyPolicy } = {}] = propertiesOf(template, 'AWS::KMS::Key');
    expect(JSON.stringify(KeyPolicy)).toContain('delivery.logs.amazonaws.com');
  });
});

test('an encryptionKey in a stack of no region is refused at synth: CDK needs it for the table', () => {
  const stack = new Stack(new App(), 'S');
  const auth = Auth.anonymous();
  const make = () => new McpTaskServer(stack, 'Server', { auth, encryptionKey: new Key(stack, 'K') });
  expect(make).toThrow(/encryptionKey: give the stack its region/);
});

test.each<[string, (stack: Stack) => Partial<McpTaskServerProps>, RegExp]>([
  ['an invalid web ACL', () => ({ waf: 'mine' }), /waf: 'mine' is not the ARN/],
  [
    'a domain that is a URL',
    (s) => ({ domain: { name: 'https://a.example', certificate: certificateOf(s) } }),
    /is not like/,
  ],
  [
    'a domain and a publicUrl',
    (s) => ({ domain: { name: 'a.example', certificate: certificateOf(s) }, publicUrl: 'https://b.example' }),
    /a domain says/,
  ],
  ['no requests at all', () => ({ throttling: { rateLimit: 0, burstLimit: 1 } }), /throttling/],
  ['half a burst', () => ({ throttling: { burstLimit: 0.5 } }), /throttling/],
])('%s is refused at synth', (_title, props, message) => {
  expect(() => synth(props)).toThrow(message);
});
