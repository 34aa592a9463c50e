import { Names, Token } from 'aws-cdk-lib';
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';

/**
 * Groups of rules that AWS maintains, and which of their rules only count: rules about bodies, where people and models
 * write code, paths and addresses, up to a megabyte; the rule about clients without a name; and the rule about extensions:
 * a tool may name a file `train.log`.
 */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  AWSManagedRulesAmazonIpReputationList: [],
  AWSManagedRulesKnownBadInputsRuleSet: ['JavaDeserializationRCE_BODY', 'Log4JRCE_BODY', 'ReactJSRCE_BODY'],
  AWSManagedRulesCommonRuleSet: [
    'SizeRestrictions_BODY',
    'EC2MetaDataSSRF_BODY',
    'GenericLFI_BODY',
    'GenericRFI_BODY',
    'CrossSiteScripting_BODY',
    'NoUserAgent_HEADER',
    'RestrictedExtensions_URIPATH',
  ],
};

/** Puts a web ACL before a stage of an API: the one with this ARN, or one with rules of AWS. */
export function webAcl(scope: Construct, resourceArn: string, waf: true | string): void {
  if (waf !== true && !Token.isUnresolved(waf) && !/^arn:[\w-]+:wafv2:[^:]+:\d+:regional\/webacl\//.test(waf)) {
    throw new Error(`McpTaskServer: waf: '${waf}' is not the ARN of a regional web ACL`);
  }
  const webAclArn = waf === true ? managed(scope).attrArn : waf;
  new CfnWebACLAssociation(scope, 'WebAclAssociation', { resourceArn, webAclArn });
}

function managed(scope: Construct): CfnWebACL {
  const prefix = Names.uniqueResourceName(scope, { maxLength: 64 });
  // Samples would store all headers, with access tokens.
  const visible = (metricName: string) => ({
    metricName: `${prefix}${metricName}`,
    cloudWatchMetricsEnabled: true,
    sampledRequestsEnabled: false,
  });
  return new CfnWebACL(scope, 'WebAcl', {
    scope: 'REGIONAL',
    defaultAction: { allow: {} },
    visibilityConfig: visible('WebAcl'),
    rules: Object.entries(GROUPS).map(([name, counted], priority) => ({
      name,
      priority,
      overrideAction: { none: {} },
      statement: {
        managedRuleGroupStatement: {
          vendorName: 'AWS',
          name,
          ruleActionOverrides: counted.map((rule) => ({ name: rule, actionToUse: { count: {} } })),
        },
      },
      visibilityConfig: visible(name),
    })),
  });
}
