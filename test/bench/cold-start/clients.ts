import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';

/** What the handlers beside the endpoint do: the fewest calls that create and poll a task. */
const documents = DynamoDBDocumentClient.from(new DynamoDBClient());
const states = new SFNClient();
const TableName = process.env.TASKS_TABLE ?? '';
const owner = 'o';

export async function create(): Promise<object> {
  const taskId = crypto.randomUUID();
  await documents.send(new PutCommand({ TableName, Item: { owner, taskId, status: 'working' } }));
  const stateMachineArn = `${process.env.MACHINE_ARN_PREFIX}m`;
  await states.send(new StartExecutionCommand({ stateMachineArn, name: taskId, input: '{}' }));
  return { taskId };
}

export async function poll(taskId: string): Promise<object> {
  const get = new GetCommand({ TableName, Key: { owner, taskId }, ConsistentRead: true });
  const { Item } = await documents.send(get);
  if (Item === undefined) throw new Error('There is no such task');
  return { taskId, status: Item.status };
}
