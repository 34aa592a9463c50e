import type { Stack } from 'aws-cdk-lib';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { HostedZone } from 'aws-cdk-lib/aws-route53';
import { describe, expect, test } from 'vitest';
import type { McpTaskServerProps } from '../../../lib/index.ts';
import { certificateOf, propertiesOf, synth } from './synth.ts';

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

  test('true: rules that AWS maintains; no rule about a body or the name of a file blocks', () => {
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
          'RestrictedExtensions_URIPATH',
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
