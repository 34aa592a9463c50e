import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { AwsError } from '../aws-error.ts';
import { type JsonObject, listOf, objectOf } from '../json.ts';
import type { TableResource } from '../template/specs.ts';
import type { Engine } from './engine.ts';

/** Creates the table, or checks that the one on disk has the same keys. */
export async function ensureTable(engine: Engine, { name, schema }: TableResource): Promise<void> {
  const existing = await describe(engine, name);
  if (existing) return assertSame(name, existing, schema);
  await engine.call('CreateTable', schema);
  while ((await describe(engine, name))?.TableStatus !== 'ACTIVE') await sleep(1);
}

async function describe(engine: Engine, name: string): Promise<JsonObject | undefined> {
  try {
    return objectOf((await engine.call('DescribeTable', { TableName: name })).Table);
  } catch (error) {
    if (error instanceof AwsError && error.type === 'ResourceNotFoundException') return undefined;
    throw error;
  }
}

function assertSame(name: string, existing: JsonObject, wanted: JsonObject): void {
  if (isDeepStrictEqual(keysOf(existing), keysOf(wanted))) return;
  throw new Error(`the table ${name} on disk has other keys or indexes than the template: remove the data folder`);
}

/** The parts of a table that cannot change in place: the keys with their types, and the indexes, in any order. */
function keysOf(table: JsonObject): unknown {
  const indexes = [...listOf(table.GlobalSecondaryIndexes), ...listOf(table.LocalSecondaryIndexes)].map((entry) => {
    const { IndexName, KeySchema, Projection } = objectOf(entry);
    return [String(IndexName), keySchema(KeySchema), objectOf(Projection)] as const;
  });
  const attributes = listOf(table.AttributeDefinitions).map(objectOf);
  return {
    key: keySchema(table.KeySchema),
    types: Object.fromEntries(attributes.map(({ AttributeName, AttributeType }) => [AttributeName, AttributeType])),
    indexes: Object.fromEntries(indexes.map(([indexName, ...rest]) => [indexName, rest])),
  };
}

function keySchema(value: unknown): unknown {
  return Object.fromEntries(
    listOf(value)
      .map(objectOf)
      .map((key) => [key.KeyType, key.AttributeName]),
  );
}
