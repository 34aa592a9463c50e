import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DynamoDBDocumentClient,
  GetCommand,
  type GetCommandInput,
  QueryCommand,
  type QueryCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { storeIfLarge } from '../../../functions/tasks/results/large-result.ts';
import type { TaskContext, ToolEvent } from '../../../functions/tasks/tool-contract.ts';

/** What the tool `credentials` has seen: `allowed`, or the name of the error. */
export interface Rights {
  /** A read of the attributes that the tool library reads. */
  readonly projected: string;
  /** A read of the whole record with its arguments. */
  readonly whole: string;
  readonly others: string;
  /** A write of an attribute that a tool may write: beside the record, and into it. */
  readonly beside: string;
  readonly into: string;
  /** A query of the journal; of records; of an attribute that no journal has; of whole items. */
  readonly journal: string;
  readonly records: string;
  readonly messages: string;
  readonly items: string;
}

const SURE = {
  method: 'elicitation/create',
  params: { message: 'Sure?', requestedSchema: { type: 'object', properties: { sure: { type: 'boolean' } } } },
};

export async function handler({ name, arguments: args, task }: ToolEvent): Promise<unknown> {
  if (name === 'nap' || name === 'ask') await sleep(Number(args.ms));
  if (name === 'ask') return { resultType: 'input_required', inputRequests: { sure: SURE } };
  if (name === 'large' && task !== undefined) return storeIfLarge('x'.repeat(200_000), task);
  if (name === 'credentials' && task !== undefined) return rightsOf(task);
  return `hello from ${name}`;
}

const named = (sent: Promise<unknown>): Promise<string> =>
  sent.then(
    () => 'allowed',
    ({ name }: Error) => name,
  );

async function rightsOf({ table, owner, taskId }: TaskContext): Promise<Rights> {
  const db = DynamoDBDocumentClient.from(new DynamoDBClient({}));
  const key = { TableName: table, Key: { owner, taskId } };
  const read = (more: Partial<GetCommandInput>) => named(db.send(new GetCommand({ ...key, ...more })));
  const query = (partition: string, more: Partial<QueryCommandInput> = {}) =>
    named(
      db.send(
        new QueryCommand({
          ...{ TableName: table, Select: 'SPECIFIC_ATTRIBUTES', ProjectionExpression: '#value' },
          KeyConditionExpression: '#owner = :owner',
          ExpressionAttributeNames: { '#owner': 'owner', '#value': 'value' },
          ExpressionAttributeValues: { ':owner': partition },
          ...more,
        }),
      ),
    );
  const names = { '#status': 'status', '#round': 'round' };
  const write = (partition: string) =>
    named(
      db.send(
        new UpdateCommand({
          ...{ TableName: table, Key: { owner: partition, taskId } },
          UpdateExpression: 'SET #message = :message, #expiresAt = :expiresAt',
          ExpressionAttributeNames: { '#message': 'statusMessage', '#expiresAt': 'expiresAt' },
          ExpressionAttributeValues: { ':message': 'hello', ':expiresAt': Math.ceil(Date.now() / 1_000) + 86_400 },
        }),
      ),
    );
  return {
    projected: await read({ ProjectionExpression: '#status, #round', ExpressionAttributeNames: names }),
    whole: await read({}),
    others: await read({ ProjectionExpression: 'arguments' }),
    beside: await write(`progress#${owner}`),
    into: await write(owner),
    journal: await query(`progress#${owner}`),
    records: await query(owner),
    messages: await query(`progress#${owner}`, {
      ExpressionAttributeNames: { '#owner': 'owner', '#value': 'statusMessage' },
    }),
    items: await query(`progress#${owner}`, {
      ...{ Select: undefined, ProjectionExpression: undefined },
      ExpressionAttributeNames: { '#owner': 'owner' },
    }),
  };
}
