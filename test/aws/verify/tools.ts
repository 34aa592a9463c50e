import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, type GetCommandInput, UpdateCommand } from '@aws-sdk/lib-dynamodb';
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

async function rightsOf({ table, owner, taskId }: TaskContext): Promise<Rights> {
  const db = DynamoDBDocumentClient.from(new DynamoDBClient({}));
  const key = { TableName: table, Key: { owner, taskId } };
  const read = (more: Partial<GetCommandInput>) =>
    db.send(new GetCommand({ ...key, ...more })).then(
      () => 'allowed',
      ({ name }: Error) => name,
    );
  const names = { '#status': 'status', '#round': 'round' };
  const write = (partition: string) =>
    db
      .send(
        new UpdateCommand({
          ...{ TableName: table, Key: { owner: partition, taskId } },
          UpdateExpression: 'SET #message = :message, #expiresAt = :expiresAt',
          ExpressionAttributeNames: { '#message': 'statusMessage', '#expiresAt': 'expiresAt' },
          ExpressionAttributeValues: { ':message': 'hello', ':expiresAt': Math.ceil(Date.now() / 1_000) + 86_400 },
        }),
      )
      .then(
        () => 'allowed',
        ({ name }: Error) => name,
      );
  return {
    projected: await read({ ProjectionExpression: '#status, #round', ExpressionAttributeNames: names }),
    whole: await read({}),
    others: await read({ ProjectionExpression: 'arguments' }),
    beside: await write(`progress#${owner}`),
    into: await write(owner),
  };
}
