import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { SFNClient, type SFNClientConfig, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';

/** What the handlers beside the endpoint do: the fewest calls that create and poll a task. */
export function calls(config: DynamoDBClientConfig & SFNClientConfig = {}) {
  const documents = DynamoDBDocumentClient.from(new DynamoDBClient(config));
  const states = new SFNClient(config);
  const TableName = process.env.TASKS_TABLE ?? '';
  const owner = 'o';
  return {
    async create(): Promise<object> {
      const taskId = crypto.randomUUID();
      await documents.send(new PutCommand({ TableName, Item: { owner, taskId, status: 'working' } }));
      const stateMachineArn = `${process.env.MACHINE_ARN_PREFIX}m`;
      await states.send(new StartExecutionCommand({ stateMachineArn, name: taskId, input: '{}' }));
      return { taskId };
    },
    async poll(taskId: string): Promise<object> {
      const get = new GetCommand({ TableName, Key: { owner, taskId }, ConsistentRead: true });
      const { Item } = await documents.send(get);
      if (Item === undefined) throw new Error('There is no such task');
      return { taskId, status: Item.status };
    },
  };
}
