import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type Cloud, type CloudOptions, startCloud } from '../../../cloud.ts';
import { adminRole, clientConfig, functionResource, tableResource, writeAssembly } from '../../fixture.ts';

/** The function of the stack writes its event to its log. */
export const LISTENER = 'export const handler = async (event) => { console.log(JSON.stringify(event)); };';

export interface StreamedStack {
  /** Properties of the event source mapping. @default no mapping */
  readonly mapping?: object;
  readonly code?: string;
  readonly table?: object;
  readonly role?: object;
}

/** A table with a stream, a function that reads it, and a queue for what is given up. */
export function streamedStack({ mapping, code = LISTENER, table = {}, role = adminRole('lambda') }: StreamedStack) {
  const StreamSpecification = { StreamViewType: 'NEW_AND_OLD_IMAGES' };
  const source = {
    Type: 'AWS::Lambda::EventSourceMapping',
    Properties: {
      FunctionName: { Ref: 'Listener' },
      EventSourceArn: { 'Fn::GetAtt': ['Table', 'StreamArn'] },
      StartingPosition: 'TRIM_HORIZON',
      ...mapping,
    },
  };
  return writeAssembly({
    resources: {
      Table: tableResource({ StreamSpecification, ...table }),
      Role: role,
      Listener: functionResource('listener', { Role: { 'Fn::GetAtt': ['Role', 'Arn'] } }),
      Dead: { Type: 'AWS::SQS::Queue', Properties: { QueueName: 'dead' } },
      ...(mapping && { Mapping: source }),
    },
    assets: { listener: code },
  });
}

export const toDead = { OnFailure: { Destination: { 'Fn::GetAtt': ['Dead', 'Arn'] } } };

/** A running cloud of the stack. `lines` has the parsed lines of its function. */
export async function startStreamed(stack: StreamedStack | string, options: Partial<CloudOptions> = {}) {
  const lines: string[] = [];
  const assembly = typeof stack === 'string' ? stack : streamedStack(stack);
  const cloud = await startCloud({
    assembly,
    ttlSweepMs: 3_600_000,
    onLog: (source, line) => source.endsWith('Listener') && line.startsWith('{') && lines.push(line),
    ...options,
  });
  const client = new DynamoDBClient({ ...clientConfig(cloud), maxAttempts: 1 });
  return { cloud, client, lines, events: () => lines.map((line) => JSON.parse(line)) };
}

export type Streamed = Awaited<ReturnType<typeof startStreamed>>;

export const TableName = 'things';
/** Items of one owner are in one shard. */
export const keyOf = (id: string, owner = 'o') => ({ owner: { S: owner }, id: { S: id } });

export function recordsOf(cloud: Cloud) {
  return cloud.streams.records(TableName);
}
