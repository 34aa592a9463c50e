import { isObject, type JsonObject, numberOf, objectOf } from '../json.ts';
import type { TableResource } from '../template/specs.ts';
import type { Consumed } from '../wire/call-log.ts';
import type { Engine, EngineAnswer } from './engine.ts';
import { type Item, indexWriteUnits, keyNames, writeUnits } from './units.ts';

interface Metered {
  readonly answer: EngineAnswer;
  readonly consumed?: Consumed | undefined;
}

// A BatchGetItem counts each item like a separate GetItem, rounded up before the sum ("DynamoDB read and write
// operations" in the developer guide), and a key without an item like a small item. dynalite does the same.
const READS = new Set(['GetItem', 'BatchGetItem', 'Query', 'Scan']);
const WRITES = new Set(['PutItem', 'UpdateItem', 'DeleteItem']);

/** Sends a request and measures what it consumed. The client sees the figure only if it asked for it. */
export function createMeter(engine: Engine, tables: readonly TableResource[]) {
  const schemas = new Map(tables.map(({ name, schema }) => [name, schema]));
  // A write is measured by a read before and after it: no other write of the item may happen in between.
  const writing = new Map<string, Promise<unknown>>();

  return async (operation: string, input: JsonObject): Promise<Metered> => {
    if (READS.has(operation)) return metered(engine, operation, input);
    if (!WRITES.has(operation)) return { answer: await engine.send(operation, JSON.stringify(input)) };
    const schema = schemas.get(String(input.TableName)) ?? {};
    const Key = keyOf(input, schema);
    const item = JSON.stringify([input.TableName, Key]);
    const others = writing.get(item) ?? Promise.resolve();
    const result = others.then(() => measureWrite(engine, operation, input, { Key, schema }));
    const done = result.catch(() => undefined).finally(() => writing.get(item) === done && writing.delete(item));
    writing.set(item, done);
    return result;
  };
}

function keyOf(input: JsonObject, schema: JsonObject): Item {
  const source = objectOf(input.Item ?? input.Key);
  return Object.fromEntries(keyNames(schema).map((name) => [name, source[name]]));
}

async function measureWrite(
  engine: Engine,
  operation: string,
  input: JsonObject,
  { Key, schema }: { Key: Item; schema: JsonObject },
): Promise<Metered> {
  const read = async (): Promise<Item | undefined> => {
    const output = await engine.call('GetItem', { TableName: input.TableName, Key, ConsistentRead: true });
    return isObject(output.Item) ? output.Item : undefined;
  };

  const before = await read().catch(() => undefined);
  const { answer, consumed } = await metered(engine, operation, input);
  if (consumed) return { answer, consumed: { ...consumed, index: indexWriteUnits(schema, before, await read()) } };
  // A failed condition costs as much as a write of the existing item.
  const lost = answer.body.includes('ConditionalCheckFailedException');
  return lost ? { answer, consumed: { table: Math.max(1, writeUnits(before)), index: 0 } } : { answer };
}

async function metered(engine: Engine, operation: string, input: JsonObject): Promise<Metered> {
  const answer = await engine.send(operation, JSON.stringify({ ...input, ReturnConsumedCapacity: 'INDEXES' }));
  if (answer.status !== 200) return { answer };
  const { ConsumedCapacity, ...output } = objectOf(JSON.parse(answer.body));
  // A batch has one entry per table.
  const tables = [ConsumedCapacity].flat().map(objectOf);
  const sum = tables.map(consumedOf).reduce((all, { table, index }) => ({
    table: all.table + table,
    index: all.index + index,
  }));
  const consumed = operation === 'Query' && sum.table + sum.index === 0 ? emptyQuery(input) : sum;
  const totals = tables.map(({ Table, GlobalSecondaryIndexes, LocalSecondaryIndexes, ...total }) => total);
  const total = Array.isArray(ConsumedCapacity) ? totals : totals[0];
  const asked = { INDEXES: ConsumedCapacity, TOTAL: total }[String(input.ReturnConsumedCapacity)];
  const body = JSON.stringify(asked === undefined ? output : { ...output, ConsumedCapacity: asked });
  return { answer: { status: 200, body }, consumed };
}

/** "Queries that do not return results consume the minimum number" (API reference of Query); dynalite says none. */
function emptyQuery({ ConsistentRead, IndexName }: JsonObject): Consumed {
  const least = ConsistentRead === true ? 1 : 0.5;
  return IndexName === undefined ? { table: least, index: 0 } : { table: 0, index: least };
}

function consumedOf({ Table, GlobalSecondaryIndexes, LocalSecondaryIndexes }: JsonObject): Consumed {
  const indexes = Object.values({ ...objectOf(GlobalSecondaryIndexes), ...objectOf(LocalSecondaryIndexes) });
  return { table: unitsOf(Table), index: indexes.reduce((sum: number, index) => sum + unitsOf(index), 0) };
}

function unitsOf(value: unknown): number {
  return numberOf(objectOf(value).CapacityUnits) ?? 0;
}
