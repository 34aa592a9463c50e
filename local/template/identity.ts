import { createHash } from 'node:crypto';
import { busNameOf, DEFAULT_BUS } from '../bus-name.ts';
import { partitionOf, urlSuffixOf } from '../partition.ts';

/** The identity of a resource, once its name is known. */
export interface Identity {
  readonly stack: string;
  readonly logicalId: string;
  readonly name: string;
  readonly region: string;
  readonly account: string;
  /** The value of the property `parent` of its type, if it has both. */
  readonly parent?: string;
}

export const arn = (service: string, resource: (id: Identity) => string) => (id: Identity) =>
  `arn:${partitionOf(id.region)}:${service}:${service === 'iam' ? '' : id.region}:${id.account}:${resource(id)}`;

export const functionArn = arn('lambda', (id) => `function:${id.name}`);
export const functionUrl = (id: Identity) => `https://${generatedId(id, 32)}.lambda-url.${id.region}.on.aws/`;
export const tableArn = arn('dynamodb', (id) => `table/${id.name}`);
/** The label of a stream. On AWS it is the time at which the stream was enabled. */
export const STREAM_LABEL = '2026-01-01T00:00:00.000';
export const streamArn = arn('dynamodb', (id) => `table/${id.name}/stream/${STREAM_LABEL}`);
export const mappingArn = arn('lambda', (id) => `event-source-mapping:${uuid(id)}`);
export const machineArn = arn('states', (id) => `stateMachine:${id.name}`);
export const secretArn = arn('secretsmanager', (id) => `secret:${id.name}-${generatedId(id, 6)}`);
// CloudFormation generates lower-case names for buckets: S3 accepts no others.
export const bucketName = (id: Identity) => id.name.toLowerCase();
export const ruleArn = arn('events', ({ name, parent }) => {
  const bus = busNameOf(parent);
  return bus === DEFAULT_BUS ? `rule/${name}` : `rule/${bus}/${name}`;
});
export const busArn = arn('events', (id) => `event-bus/${id.name}`);
export const connectionArn = arn('events', (id) => `connection/${id.name}/${uuid(id)}`);
/** EventBridge keeps the credentials of a connection in a secret. */
export const connectionSecretArn = arn(
  'secretsmanager',
  (id) => `secret:events!connection/${id.name}/${uuid(id)}-${generatedId(id, 6)}`,
);
export const queueArn = arn('sqs', (id) => id.name);
export const queueUrl = (id: Identity) => `https://sqs.${id.region}.${urlSuffixOf(id.region)}/${id.account}/${id.name}`;
export const topicArn = arn('sns', (id) => id.name);
export const policyArn = arn('iam', (id) => `policy/${id.name}`);

// These stand for ids that AWS would generate; the same in every run.
export const generatedId = (id: Identity, length: number) =>
  BigInt(`0x${digest(id)}`)
    .toString(36)
    .slice(0, length);
export const uuid = (id: Identity) => digest(id).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
export const digest = ({ stack, logicalId }: Identity) =>
  createHash('sha256').update(`${stack}/${logicalId}`).digest('hex');
export const apiId = (id: Identity) => generatedId(id, 10);
