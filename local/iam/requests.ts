import { type CallFacts, readInput } from '../faults/index.ts';
import { type JsonObject, stringOf } from '../json.ts';
import type { Specs } from '../template/specs.ts';
import { dynamoDbRequests } from './dynamodb.ts';
import type { AccessRequest } from './statements.ts';

/** Region and account, for the ARNs of resources that are not in the template. */
export interface RegionAndAccount {
  readonly region: string;
  readonly account: string;
}

type Requests = (operation: string, input: JsonObject) => readonly AccessRequest[];

const one = (action: string, resource: string): AccessRequest[] => [{ action, resource, context: {} }];

/** The actions and resources that a call needs. */
export function createRequests(
  specs: Specs,
  { region, account }: RegionAndAccount,
): (call: CallFacts) => readonly AccessRequest[] {
  const arn = (service: string, resource: string) => `arn:aws:${service}:${region}:${account}:${resource}`;
  const services: Readonly<Record<string, Requests>> = {
    dynamodb: (operation, input) =>
      dynamoDbRequests(operation, input, specs.tables, (table) => arn('dynamodb', `table/${table}`)),
    s3: (operation, { Bucket, Key }) =>
      operation === 'ListBucket'
        ? one('s3:ListBucket', `arn:aws:s3:::${Bucket}`)
        : one(`s3:${operation === 'HeadObject' ? 'GetObject' : operation}`, `arn:aws:s3:::${Bucket}/${Key}`),
    states: (operation, { executionArn, stateMachineArn }) =>
      one(`states:${operation}`, stringOf(executionArn) ?? stringOf(stateMachineArn) ?? '*'),
    lambda: (_operation, { FunctionName }) => {
      const found = specs.functions.find((spec) => spec.name === FunctionName || spec.arn === FunctionName);
      return one('lambda:InvokeFunction', found?.arn ?? arn('lambda', `function:${FunctionName}`));
    },
    secretsmanager: (operation, { SecretId }) => {
      const found = specs.secrets.find((secret) => secret.name === SecretId || secret.arn === SecretId);
      return one(`secretsmanager:${operation}`, found?.arn ?? arn('secretsmanager', `secret:${SecretId}`));
    },
  };
  return (call) => services[call.service]?.(call.operation, readInput(call)) ?? [];
}
