import { isObject, listOf, objectOf } from '../json.ts';
import { about, type ResolvedStack, type Resource } from '../template/resources.ts';
import { readStatements, type Statement } from './statements.ts';

/** The AWS managed policies that CDK attaches on its own. */
const AWS_MANAGED: Readonly<Record<string, readonly string[]>> = {
  'service-role/AWSLambdaBasicExecutionRole': ['logs:CreateLogGroup', 'logs:CreateLogStream', 'logs:PutLogEvents'],
  'service-role/AWSLambdaDynamoDBExecutionRole': [
    ...['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'].map((action) => `dynamodb:${action}`),
    ...['CreateLogGroup', 'CreateLogStream', 'PutLogEvents'].map((action) => `logs:${action}`),
  ],
  'service-role/AmazonAPIGatewayPushToCloudWatchLogs': [
    'CreateLogGroup',
    'CreateLogStream',
    'DescribeLogGroups',
    'DescribeLogStreams',
    'PutLogEvents',
    'GetLogEvents',
    'FilterLogEvents',
  ].map((action) => `logs:${action}`),
};

export interface Role {
  readonly arn: string;
  readonly name: string;
  readonly account: string;
  /** What the template grants. */
  readonly statements: readonly Statement[];
  /** What AWS managed policies grant. */
  readonly managed: readonly Statement[];
  /** Who may assume the role. */
  readonly trust: readonly Statement[];
}

/** The roles of the template by ARN, each with the statements of its policies. */
export function readRoles(stacks: readonly ResolvedStack[]): ReadonlyMap<string, Role> {
  const all = stacks.flatMap((stack) => stack.resources);
  const policies = all.filter(({ type }) => type === 'AWS::IAM::Policy' || type === 'AWS::IAM::ManagedPolicy');
  const roles = all.filter(({ type }) => type === 'AWS::IAM::Role');
  return new Map(roles.map((role) => [role.arn ?? '', about(role, () => readRole(role, policies))]));
}

function readRole(resource: Resource, policies: readonly Resource[]): Role {
  const { arn = '', name, account, logicalId, where, properties } = resource;
  const inline = listOf(properties.Policies).flatMap((policy) => {
    const { PolicyName, PolicyDocument } = objectOf(policy);
    return readStatements(PolicyDocument, `${logicalId} ${PolicyName}`, where);
  });
  const managed = listOf(properties.ManagedPolicyArns).map(String);
  const attached = policies.filter(
    (policy) => listOf(policy.properties.Roles).includes(name) || managed.includes(policy.ref ?? ''),
  );
  const ofAws = managed.filter((policyArn) => !policies.some(({ ref }) => ref === policyArn));
  const trust = properties.AssumeRolePolicyDocument;
  return {
    arn,
    name,
    account,
    statements: [...inline, ...attached.flatMap(policyStatements)],
    managed: ofAws.flatMap((policyArn) => managedStatements(policyArn, where)),
    trust: isObject(trust) ? readStatements(trust, `${logicalId} trust`, where) : [],
  };
}

function policyStatements(resource: Resource): Statement[] {
  const { properties, logicalId, where } = resource;
  return about(resource, () => readStatements(properties.PolicyDocument, logicalId, where));
}

function managedStatements(arn: string, where: string): Statement[] {
  const name = arn.replace(/^arn:aws[a-z-]*:iam::aws:policy\//, '');
  const actions = Object.hasOwn(AWS_MANAGED, name) ? AWS_MANAGED[name] : undefined;
  if (!actions) throw new Error(`the embedded cloud does not know the policy ${arn} ${where}`);
  return readStatements({ Statement: { Effect: 'Allow', Action: actions, Resource: '*' } }, name, where);
}

/** What resources of the template allow services to do: permissions of functions and policies of queues. */
export function readResourcePolicies(stacks: readonly ResolvedStack[]): Statement[] {
  const all = stacks.flatMap((stack) => stack.resources);
  const functions = all.filter(({ type }) => type === 'AWS::Lambda::Function');
  return all.flatMap((resource) => {
    if (resource.type === 'AWS::Lambda::Permission') return permission(resource, functions);
    return resource.type === 'AWS::SQS::QueuePolicy' ? policyStatements(resource) : [];
  });
}

/** The statement that AWS adds to the policy of the function for this permission. */
function permission({ properties, logicalId, where }: Resource, functions: readonly Resource[]): Statement[] {
  const { Action, FunctionName, Principal, SourceArn, SourceAccount } = properties;
  const target = functions.find(({ name, arn }) => name === FunctionName || arn === FunctionName);
  if (!target) throw new Error(`the embedded cloud does not know FunctionName ${FunctionName} ${where}`);
  const statement = {
    Effect: 'Allow',
    Action,
    Resource: target.arn,
    Principal,
    Condition: {
      ...(SourceArn !== undefined && { ArnLike: { 'aws:SourceArn': SourceArn } }),
      ...(SourceAccount !== undefined && { StringEquals: { 'aws:SourceAccount': SourceAccount } }),
    },
  };
  return readStatements({ Statement: statement }, logicalId, where);
}
