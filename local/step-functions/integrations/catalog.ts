import { FUNCTION } from '../definition/resource.ts';

/** What the embedded cloud knows of one integration of AWS. */
export interface CatalogEntry {
  /** The page of AWS's developer guide that says what it takes: `https://docs.aws.amazon.com/step-functions/latest/dg/<page>.html`. */
  readonly page: string;
  /** The arguments that it knows, between blanks; undefined if it takes anything. */
  readonly arguments?: string;
  /** The endings that it may have, between blanks. */
  readonly endings?: string;
}

const CONDITIONS =
  'ConditionalOperator ConditionExpression Expected ExpressionAttributeNames ExpressionAttributeValues ' +
  'ReturnConsumedCapacity ReturnItemCollectionMetrics ReturnValues';

/** The integrations, by their names behind `arn:aws:states:::`. docs/writing-tools.md has a table made of this list. */
export const CATALOG = {
  'lambda:invoke': {
    page: 'connect-lambda',
    arguments: 'FunctionName InvocationType Payload Qualifier',
    endings: '.waitForTaskToken',
  },
  'dynamodb:getItem': {
    page: 'connect-ddb',
    arguments:
      'TableName Key AttributesToGet ConsistentRead ExpressionAttributeNames ProjectionExpression ReturnConsumedCapacity',
  },
  'dynamodb:putItem': { page: 'connect-ddb', arguments: `TableName Item ${CONDITIONS}` },
  'dynamodb:updateItem': {
    page: 'connect-ddb',
    arguments: `TableName Key AttributeUpdates UpdateExpression ${CONDITIONS}`,
  },
  'dynamodb:deleteItem': { page: 'connect-ddb', arguments: `TableName Key ${CONDITIONS}` },
  'sqs:sendMessage': {
    page: 'connect-sqs',
    arguments: 'QueueUrl MessageBody DelaySeconds MessageAttributes',
    endings: '.waitForTaskToken',
  },
  'sns:publish': {
    page: 'connect-sns',
    arguments: 'TopicArn Message MessageAttributes MessageStructure Subject',
    endings: '.waitForTaskToken',
  },
  'events:putEvents': { page: 'connect-eventbridge', arguments: 'Entries', endings: '.waitForTaskToken' },
  'http:invoke': {
    page: 'call-https-apis',
    arguments: 'ApiEndpoint Method Authentication InvocationConfig Headers QueryParameters RequestBody Transform',
  },
  'states:startExecution': {
    page: 'connect-stepfunctions',
    arguments: 'StateMachineArn Name Input',
    endings: '.sync .sync:2 .waitForTaskToken',
  },
  'aws-sdk:sfn:describeExecution': { page: 'supported-services-awssdk', arguments: 'ExecutionArn' },
} as const satisfies Readonly<Record<string, CatalogEntry>>;

export type CatalogName = keyof typeof CATALOG;

const PREFIX = 'arn:aws:states:::';

/** The Resources that tasks of a state machine may call. */
export const INTEGRATIONS: readonly string[] = [
  FUNCTION,
  ...Object.entries(CATALOG).flatMap(([name, entry]: [string, CatalogEntry]) =>
    ['', ...(entry.endings?.split(' ') ?? [])].map((ending) => `${PREFIX}${name}${ending}`),
  ),
];

/** The catalog's name of a Resource. */
export const catalogName = (resource: string): string =>
  resource.replace(/^arn:[^:]*:states:::/, '').replace(/\.(sync(:2)?|waitForTaskToken)$/, '');

/** The arguments that an integration knows. */
export function knownArguments(resource: string): ReadonlySet<string> | undefined {
  const entry: CatalogEntry | undefined = Object.entries(CATALOG).find(([name]) => name === catalogName(resource))?.[1];
  return entry?.arguments === undefined ? undefined : new Set(entry.arguments.split(' '));
}
