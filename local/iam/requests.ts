import { busNameOf } from '../bus-name.ts';
import { type CallFacts, readInput } from '../faults/index.ts';
import { type JsonObject, listOf, objectOf, stringOf } from '../json.ts';
import { partitionOf } from '../partition.ts';
import type { Specs } from '../template/specs.ts';
import { dynamoDbRequests } from './dynamodb.ts';
import type { AccessRequest } from './statements.ts';
import { machineOfToken } from './task-token.ts';

/** Region and account, for the ARNs of resources that are not in the template. */
export interface RegionAndAccount {
  readonly region: string;
  readonly account: string;
}

// Amazon S3 User Guide, "Required permissions for Amazon S3 API operations".
const S3_BUCKET_ACTIONS: Readonly<Record<string, string>> = {
  ListBucket: 's3:ListBucket',
  ListMultipartUploads: 's3:ListBucketMultipartUploads',
};
const S3_OBJECT_ACTIONS: Readonly<Record<string, string>> = {
  GetObject: 's3:GetObject',
  HeadObject: 's3:GetObject',
  PutObject: 's3:PutObject',
  DeleteObject: 's3:DeleteObject',
  CreateMultipartUpload: 's3:PutObject',
  UploadPart: 's3:PutObject',
  CompleteMultipartUpload: 's3:PutObject',
  AbortMultipartUpload: 's3:AbortMultipartUpload',
  ListParts: 's3:ListMultipartUploadParts',
};

/**
 * Which requests of `s3:PutObject` make an object: only these take a condition
 * (docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes-enforce.html).
 */
const S3_CREATES: Readonly<Record<string, boolean>> = {
  PutObject: true,
  CompleteMultipartUpload: true,
  CreateMultipartUpload: false,
  UploadPart: false,
};

type Requests = (operation: string, input: JsonObject) => readonly AccessRequest[];

const one = (action: string, resource: string): AccessRequest[] => [{ action, resource, context: {} }];

/** What an HTTP task needs ("Call HTTPS APIs in Step Functions workflows", "IAM permissions to run an HTTP Task"). */
const httpRequests = ({ stateMachineArn, endpoint, method, connectionArn, secretArn }: JsonObject): AccessRequest[] => [
  {
    action: 'states:InvokeHTTPEndpoint',
    resource: String(stateMachineArn),
    context: { 'states:HTTPEndpoint': String(endpoint), 'states:HTTPMethod': String(method) },
  },
  ...one('events:RetrieveConnectionCredentials', String(connectionArn)),
  ...one('secretsmanager:GetSecretValue', String(secretArn)),
  ...one('secretsmanager:DescribeSecret', String(secretArn)),
];

/** The actions and resources that a call needs. */
export function createRequests(
  specs: Specs,
  { region, account }: RegionAndAccount,
): (call: CallFacts) => readonly AccessRequest[] {
  const partition = partitionOf(region);
  const arn = (service: string, resource: string) => `arn:${partition}:${service}:${region}:${account}:${resource}`;
  const services: Readonly<Record<string, Requests>> = {
    dynamodb: (operation, input) =>
      dynamoDbRequests(operation, input, specs.tables, (table) => arn('dynamodb', `table/${table}`)),
    // An operation that is not known here needs no right: its refusal says so.
    s3: (operation, { Bucket, Key, IfNoneMatch }) => {
      const bucket = `arn:${partition}:s3:::${Bucket}`;
      const [ofBucket, ofObject] = [S3_BUCKET_ACTIONS[operation], S3_OBJECT_ACTIONS[operation]];
      if (ofBucket !== undefined) return one(ofBucket, bucket);
      if (ofObject === undefined) return [];
      const context = {
        's3:if-none-match': stringOf(IfNoneMatch),
        's3:ObjectCreationOperation': S3_CREATES[operation]?.toString(),
      };
      return [{ action: ofObject, resource: `${bucket}/${Key}`, context }];
    },
    logs: (operation, { logGroupName }) => one(`logs:${operation}`, arn('logs', `log-group:${logGroupName}:*`)),
    // "sqs:SendMessage" also allows batches ("Amazon SQS API permissions", actions and required resources).
    sqs: (operation, { QueueUrl }) =>
      one(`sqs:${operation.replace(/Batch$/, '')}`, arn('sqs', String(QueueUrl).split('/').at(-1) ?? '')),
    sns: (operation, { TopicArn }) => one(`sns:${operation}`, stringOf(TopicArn) ?? '*'),
    // The id of a stack is behind its name.
    cloudformation: (operation, { StackName }) =>
      one(`cloudformation:${operation}`, arn('cloudformation', `stack/${StackName}/local`)),
    // "No permissions are required to perform this operation" (API reference of GetCallerIdentity).
    sts: () => [],
    // A token stands for the machine of its task, which `grantTaskResponse` of CDK names.
    states: (operation, input) => {
      const { executionArn, stateMachineArn, taskToken } = input;
      if (operation === 'InvokeHTTPEndpoint') return httpRequests(input);
      const named = stringOf(executionArn) ?? stringOf(stateMachineArn) ?? machineOfToken(String(taskToken));
      return one(`states:${operation}`, named ?? '*');
    },
    lambda: (_operation, { FunctionName }) => {
      const found = specs.functions.find((spec) => spec.name === FunctionName || spec.arn === FunctionName);
      const named = String(FunctionName);
      const asked = named.startsWith('arn:') ? named : arn('lambda', `function:${named}`);
      return one('lambda:InvokeFunction', found?.arn ?? asked);
    },
    events: (operation, { Entries }) =>
      listOf(Entries)
        .map(objectOf)
        .map(({ EventBusName, Source, DetailType }) => ({
          action: `events:${operation}`,
          resource: arn('events', `event-bus/${busNameOf(EventBusName)}`),
          context: { 'events:source': stringOf(Source), 'events:detail-type': stringOf(DetailType) },
        })),
    secretsmanager: (operation, { SecretId }) => {
      const found = specs.secrets.find((secret) => secret.name === SecretId || secret.arn === SecretId);
      return one(`secretsmanager:${operation}`, found?.arn ?? arn('secretsmanager', `secret:${SecretId}`));
    },
  };
  return (call) => services[call.service]?.(call.operation, readInput(call)) ?? [];
}
