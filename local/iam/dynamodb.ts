import { type JsonObject, listOf, objectOf, stringOf } from '../json.ts';
import type { TableResource } from '../template/specs.ts';
import type { ConditionKeys } from './conditions.ts';
import type { AccessRequest } from './statements.ts';

/** The IAM requests of a DynamoDB call: one for each table or index it touches. */
export function dynamoDbRequests(
  operation: string,
  input: JsonObject,
  tables: readonly TableResource[],
  arnOf: (table: string) => string,
): AccessRequest[] {
  const request = (name: string, call: JsonObject, action = operation): AccessRequest => {
    const table = nameOf(name);
    const index = stringOf(call.IndexName);
    return {
      action: `dynamodb:${action}`,
      resource: index === undefined ? arnOf(table) : `${arnOf(table)}/index/${index}`,
      context: contextOf(action, call, tables.find((one) => one.name === table)?.schema ?? {}),
    };
  };
  if (operation === 'BatchGetItem') {
    return Object.entries(objectOf(input.RequestItems)).map(([name, call]) => request(name, objectOf(call)));
  }
  if (operation === 'BatchWriteItem') {
    return Object.entries(objectOf(input.RequestItems)).map(([name, writes]) => {
      const each = listOf(writes).map((write) => Object.values(objectOf(write)).map(objectOf)[0] ?? {});
      return request(name, { Keys: each.map(({ Key, Item }) => Key ?? Item) });
    });
  }
  const transact = listOf(input.TransactItems).flatMap((item) => Object.entries(objectOf(item)));
  if (transact.length > 0) {
    return transact.map(([kind, call]) => {
      const action = kind === 'ConditionCheck' ? 'ConditionCheckItem' : `${kind}Item`;
      return request(String(objectOf(call).TableName), objectOf(call), action);
    });
  }
  return [request(String(input.TableName), input)];
}

/** A table may be named by its ARN. */
function nameOf(table: string): string {
  return table.replace(/^arn:[^/]*\//, '');
}

const READS = new Set(['GetItem', 'BatchGetItem', 'Query', 'Scan']);

/** Most policies ask for few of the keys, or none: each is computed when it is read. */
function contextOf(action: string, call: JsonObject, schema: JsonObject): ConditionKeys {
  return {
    get 'dynamodb:Attributes'() {
      return attributes(call);
    },
    get 'dynamodb:LeadingKeys'() {
      const leading = leadingKeys(call, schema);
      return leading.length > 0 ? leading : undefined;
    },
    'dynamodb:ReturnValues': stringOf(call.ReturnValues),
    get 'dynamodb:Select'() {
      if (!READS.has(action)) return undefined;
      const projected = stringOf(call.ProjectionExpression) !== undefined || call.AttributesToGet !== undefined;
      const all = call.IndexName === undefined ? 'ALL_ATTRIBUTES' : 'ALL_PROJECTED_ATTRIBUTES';
      return stringOf(call.Select) ?? (projected ? 'SPECIFIC_ATTRIBUTES' : all);
    },
  };
}

const EXPRESSIONS = [
  'ProjectionExpression',
  'ConditionExpression',
  'UpdateExpression',
  'KeyConditionExpression',
  'FilterExpression',
];
const WORDS = new Set(
  (
    'SET REMOVE ADD DELETE AND OR NOT IN BETWEEN ' +
    'attribute_exists attribute_not_exists attribute_type begins_with contains size if_not_exists list_append'
  ).split(' '),
);

/** All top-level attributes that a call names: in keys, in items and in expressions. */
function attributes(call: JsonObject): string[] {
  const names = objectOf(call.ExpressionAttributeNames);
  const inExpressions = EXPRESSIONS.flatMap((name) => [...(stringOf(call[name]) ?? '').matchAll(PATH)])
    .map(([path]) => path)
    .filter((path) => !WORDS.has(path) && !WORDS.has(path.toUpperCase()))
    .map((path) => String(path.startsWith('#') ? (names[path] ?? path) : path));
  const given = [call.Key, call.Item, call.ExclusiveStartKey, ...listOf(call.Keys)].flatMap((item) =>
    Object.keys(objectOf(item)),
  );
  const legacy = [
    ...listOf(call.AttributesToGet).map(String),
    ...LEGACY.flatMap((name) => Object.keys(objectOf(call[name]))),
  ];
  return [...new Set([...given, ...inExpressions, ...legacy])];
}

/** The first part of a path: not a value, and nothing after a dot or in brackets. */
const PATH = /(?<![:.\w#])#?[A-Za-z_]\w*/g;
const LEGACY = ['AttributeUpdates', 'Expected', 'KeyConditions', 'QueryFilter', 'ScanFilter'];

/** The partition keys that a call names. A key condition names one by a value. */
function leadingKeys(call: JsonObject, schema: JsonObject): string[] {
  const indexes = listOf(schema.GlobalSecondaryIndexes).map(objectOf);
  const { KeySchema = schema.KeySchema } = indexes.find(({ IndexName }) => IndexName === call.IndexName) ?? {};
  const hash = listOf(KeySchema)
    .map(objectOf)
    .find(({ KeyType }) => KeyType === 'HASH')?.AttributeName;
  const items = [call.Key, call.Item, ...listOf(call.Keys)].map(objectOf);
  const names = objectOf(call.ExpressionAttributeNames);
  const condition = stringOf(call.KeyConditionExpression) ?? '';
  const compared = [...condition.matchAll(/(#?\w+)\s*=\s*(:\w+)/g)]
    .filter(([, name = '']) => (names[name] ?? name) === hash)
    .map(([, , value = '']) => objectOf(call.ExpressionAttributeValues)[value]);
  return [...items.map((item) => item[String(hash)]), ...compared].flatMap((value) =>
    Object.values(objectOf(value)).map(String),
  );
}
