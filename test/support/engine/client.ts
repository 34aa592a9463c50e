import {
  BatchGetCommand,
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Query, Table, Update } from './table.ts';
import { fromItem, type Item, toItem } from './values.ts';

/** How one request is made. `stale`: what it need not read consistently is a write behind. */
export type Carry = <T>(what: string, carryOut: (stale: boolean) => T) => Promise<T>;

/** "The batch can contain up to 100 items" (BatchGetItem). An answer is never cut at 16 MB here. */
const MOST_KEYS = 100;

/** What the store takes for the SDK's document client. */
export function documentClient(table: Table, carry: Carry): DynamoDBDocumentClient {
  const send = (command: unknown): Promise<object> => {
    if (command instanceof GetCommand) {
      const { Key = {}, ConsistentRead, ...rest } = command.input;
      const key = toItem(Key);
      return carry(`get ${Key.taskId}`, (stale) =>
        found(table.get(key, expressions(rest), stale && ConsistentRead !== true)),
      );
    }
    if (command instanceof UpdateCommand) {
      const { Key = {}, ReturnValues, ...rest } = command.input;
      const request: Update = { Key: toItem(Key), ...expressions(rest) };
      const beside = String(Key.taskId).startsWith('#') || String(Key.owner).startsWith('progress#');
      return carry(`${beside ? 'update' : 'change'} ${Key.taskId}`, () => {
        const item = table.update(request);
        return ReturnValues === 'ALL_NEW' ? { Attributes: fromItem(item) } : {};
      });
    }
    if (command instanceof PutCommand) {
      const { Item = {}, ...rest } = command.input;
      const request = { Item: toItem(Item), ...expressions(rest) };
      return carry(`put ${Item.taskId}`, () => {
        table.put(request);
        return {};
      });
    }
    if (command instanceof DeleteCommand) {
      const { Key = {}, ...rest } = command.input;
      return carry(`delete ${Key.taskId}`, () => {
        table.deleteIf({ Key: toItem(Key), ...expressions(rest) });
        return {};
      });
    }
    if (command instanceof QueryCommand) {
      const { IndexName, ScanIndexForward, Limit, ExclusiveStartKey, ConsistentRead, ...rest } = command.input;
      const start = ExclusiveStartKey && { ExclusiveStartKey: toItem(ExclusiveStartKey) };
      const request: Query = { IndexName, ScanIndexForward, Limit, ...start, ...expressions(rest) };
      return carry(`query ${IndexName ?? 'tasks'}`, (stale) => {
        const { items, last } = table.query(request, stale && ConsistentRead !== true);
        return { Items: items.map(fromItem), ...(last && { LastEvaluatedKey: fromItem(last) }) };
      });
    }
    if (command instanceof BatchGetCommand) {
      const [[name, { Keys = [], ConsistentRead, ...rest }] = ['', {}]] = Object.entries(
        command.input.RequestItems ?? {},
      );
      const keys = Keys.map(toItem);
      return carry('batch get', (stale) => {
        if (new Set(keys.map((key) => JSON.stringify(key))).size !== keys.length || keys.length > MOST_KEYS) {
          throw Object.assign(new Error('Too many keys, or one twice'), { name: 'ValidationException' });
        }
        const items = keys.map((key) => table.get(key, expressions(rest), stale && ConsistentRead !== true));
        return { Responses: { [name]: items.filter((item) => item !== undefined).map(fromItem) } };
      });
    }
    throw new Error(`The table in memory knows no ${(command as object).constructor.name}`);
  };
  return { send } as unknown as DynamoDBDocumentClient;
}

interface Input {
  readonly UpdateExpression?: string | undefined;
  readonly ConditionExpression?: string | undefined;
  readonly ProjectionExpression?: string | undefined;
  readonly KeyConditionExpression?: string | undefined;
  readonly FilterExpression?: string | undefined;
  readonly ExpressionAttributeNames?: Record<string, string> | undefined;
  readonly ExpressionAttributeValues?: Record<string, unknown> | undefined;
}

function expressions({ ExpressionAttributeValues: values, ...rest }: Input) {
  return { ...rest, ...(values && { ExpressionAttributeValues: toItem(values) }) };
}

const found = (item: Item | undefined) => (item === undefined ? {} : { Item: fromItem(item) });
