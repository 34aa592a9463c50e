import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { byDocumentClient } from '../../../../functions/tasks/aws/dynamodb.ts';

/** The parts of a command's input that these tests read. */
export interface Input {
  readonly Key?: { readonly owner: string; readonly taskId: string };
  readonly Item?: Readonly<Record<string, unknown>>;
  readonly ConsistentRead?: boolean;
  readonly UpdateExpression?: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: Readonly<Record<string, unknown>>;
  readonly RequestItems?: { readonly t: { readonly Keys: readonly { taskId: string }[]; ConsistentRead?: boolean } };
}

/** A DynamoDB that gives the answers of the test, and keeps what it was asked. `t` is its table. */
export function fakeTable(answer: (command: string, input: Input) => unknown) {
  const asked: { readonly command: string; readonly input: Input }[] = [];
  const send = async (sent: { readonly input: Input }) => {
    const command = sent.constructor.name.replace('Command', '');
    const { input } = sent;
    asked.push({ command, input });
    return answer(command, input) ?? {};
  };
  const inputs = (command: string) => asked.filter((one) => one.command === command).map(({ input }) => input);
  return { db: byDocumentClient({ send } as Parameters<typeof byDocumentClient>[0]), asked, inputs };
}

export const conditionFailed = () => new ConditionalCheckFailedException({ message: 'm', $metadata: {} });
