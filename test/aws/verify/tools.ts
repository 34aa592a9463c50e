import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, type GetCommandInput, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { storeIfLarge } from '../../../functions/tasks/large-result.ts';
import type { TaskContext, ToolEvent } from '../../../functions/tool/contract.ts';

/** What the tool `credentials` has seen: `allowed`, or the name of the error. */
export interface Rights {
  /** A look at the attributes that the tool library reads. */
  readonly projected: string;
  /** A look at the whole record, at its arguments. */
  readonly whole: string;
  readonly others: string;
  /** What comes back of a write whose condition fails: `nothing`, `the record`, or the name of the error. */
  readonly ofFailedWrite: string;
}

export async function handler({ name, arguments: args, task }: ToolEvent): Promise<unknown> {
  if (name === 'nap') await sleep(Number(args.ms));
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
  const write = new UpdateCommand({
    ...key,
    UpdateExpression: 'SET #message = :message',
    ConditionExpression: '#status = :never',
    ExpressionAttributeNames: { '#message': 'statusMessage', '#status': 'status' },
    ExpressionAttributeValues: { ':message': '', ':never': 'never' },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
  const ofFailedWrite = db.send(write).then(
    () => 'a write that should have failed',
    ({ name, Item }: Error & { Item?: object }) => {
      if (name !== 'ConditionalCheckFailedException') return name;
      return Item === undefined ? 'nothing' : 'the record';
    },
  );
  return {
    projected: await read({ ProjectionExpression: '#status, #round', ExpressionAttributeNames: names }),
    whole: await read({}),
    others: await read({ ProjectionExpression: 'arguments' }),
    ofFailedWrite: await ofFailedWrite,
  };
}
