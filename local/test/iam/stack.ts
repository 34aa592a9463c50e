import { startCloud } from '../../cloud.ts';
import { functionResource, tableResource, writeAssembly } from '../fixture.ts';

export const arnOf = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] });
export const allow = (Action: unknown, Resource: unknown, more: object = {}) => ({
  Effect: 'Allow',
  Action,
  Resource,
  ...more,
});
const trust = (service: string) => ({
  Statement: { Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { Service: `${service}.amazonaws.com` } },
});
export const role = (service: string, statements: readonly object[] = [], more: object = {}) => ({
  Type: 'AWS::IAM::Role',
  Properties: {
    AssumeRolePolicyDocument: trust(service),
    Policies: [
      { PolicyName: 'Own', PolicyDocument: { Statement: [...statements, allow('iam:PassRole', 'arn:aws:iam:::x')] } },
    ],
    ...more,
  },
});
export const policy = (Roles: readonly string[], ...Statement: object[]) => ({
  Type: 'AWS::IAM::Policy',
  Properties: { PolicyName: 'P', Roles: Roles.map((Ref) => ({ Ref })), PolicyDocument: { Statement } },
});
export const task = (Resource: string, Arguments: object) => ({ Type: 'Task', Resource, Arguments, End: true });
export const machine = (roleId: string, state: object) => ({
  Type: 'AWS::StepFunctions::StateMachine',
  Properties: {
    RoleArn: arnOf(roleId),
    DefinitionString: JSON.stringify({ QueryLanguage: 'JSONata', StartAt: 'A', States: { A: state } }),
  },
});
const WORKER = 'arn:aws:lambda:us-east-1:000000000000:function:Test-Worker';
export const update = { TableName: 'things', Key: { owner: { S: 'o' }, id: { S: 'i' } } };

/** `Worker` has some rights, and `NoRights` has none. The state machines of `Clerk` have some, too. */
export const resources = {
  Things: tableResource(),
  Results: { Type: 'AWS::S3::Bucket', Properties: {} },
  Key: { Type: 'AWS::SecretsManager::Secret', Properties: { GenerateSecretString: {} } },
  OtherKey: { Type: 'AWS::SecretsManager::Secret', Properties: { GenerateSecretString: {} } },
  Worker: functionResource('code', { Role: arnOf('WorkerRole') }),
  NoRights: functionResource('code', { Role: arnOf('NoRightsRole') }),
  NoRightsRole: role('lambda'),
  WorkerRole: role('lambda', [allow('dynamodb:GetItem', arnOf('Things'))], {
    ManagedPolicyArns: ['arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole', { Ref: 'Managed' }],
  }),
  Managed: {
    Type: 'AWS::IAM::ManagedPolicy',
    Properties: { PolicyDocument: { Statement: allow('secretsmanager:GetSecretValue', { Ref: 'Key' }) } },
  },
  Attached: policy(
    ['WorkerRole'],
    allow('dynamodb:UpdateItem', arnOf('Things'), {
      Condition: {
        'ForAllValues:StringEquals': { 'dynamodb:Attributes': ['owner', 'id', 'message'] },
        StringEqualsIfExists: { 'dynamodb:ReturnValues': 'NONE' },
      },
    }),
    allow('s3:PutObject', { 'Fn::Join': ['', [arnOf('Results'), '/results/*']] }),
    allow('states:StartExecution', { Ref: 'Calls' }),
    allow('dynamodb:*', { 'Fn::Join': ['', [arnOf('Things'), '/index/*']] }),
    { Effect: 'Deny', Action: 'dynamodb:Scan', Resource: '*' },
  ),
  ClerkRole: role('states', [allow('lambda:InvokeFunction', arnOf('Worker'))]),
  Calls: machine('ClerkRole', task('arn:aws:states:::lambda:invoke', { FunctionName: WORKER })),
  CallsOther: machine('ClerkRole', task('arn:aws:states:::lambda:invoke', { FunctionName: `${WORKER}2` })),
  Writes: machine('ClerkRole', task('arn:aws:states:::dynamodb:updateItem', update)),
};
const code = 'export const handler = async () => 1;';
export const start = (more: object, options = {}) =>
  startCloud({ assembly: writeAssembly({ resources: { ...resources, ...more }, assets: { code } }), ...options });
