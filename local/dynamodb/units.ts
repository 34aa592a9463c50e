import { isDeepStrictEqual } from 'node:util';
import { isObject, type JsonObject, listOf, objectOf } from '../json.ts';

/** An item as DynamoDB writes it: `{ "name": { "S": "…" } }`. */
export type Item = JsonObject;

/**
 * The write units that all global indexes consume for one write, by the DynamoDB developer guide ("Provisioned
 * throughput considerations for global secondary indexes"). dynalite reports the units of the table only.
 */
export function indexWriteUnits(schema: JsonObject, before: Item | undefined, after: Item | undefined): number {
  const units = listOf(schema.GlobalSecondaryIndexes).map((index) => {
    const from = before && entryOf(schema, objectOf(index), before);
    const to = after && entryOf(schema, objectOf(index), after);
    if (!from || !to) return writeUnits(from) + writeUnits(to);
    if (isDeepStrictEqual(from, to)) return 0;
    const keys = keyNames(objectOf(index));
    const moved = keys.some((name) => !isDeepStrictEqual(from[name], to[name]));
    return moved ? writeUnits(from) + writeUnits(to) : Math.max(writeUnits(from), writeUnits(to));
  });
  return units.reduce((sum, count) => sum + count, 0);
}

/** One unit per started KB; 0 without an item. */
export function writeUnits(item: Item | undefined): number {
  return item ? Math.max(1, Math.ceil(mapSize(item) / 1024)) : 0;
}

/** The part of an item that an index holds; undefined if the item lacks a key of the index. */
function entryOf(schema: JsonObject, index: JsonObject, item: Item): Item | undefined {
  const keys = keyNames(index);
  if (keys.some((name) => item[name] === undefined)) return undefined;
  const { ProjectionType, NonKeyAttributes } = objectOf(index.Projection);
  if (ProjectionType === 'ALL') return item;
  const names = [...keys, ...keyNames(schema), ...listOf(NonKeyAttributes).map(String)];
  return Object.fromEntries(names.filter((name) => item[name] !== undefined).map((name) => [name, item[name]]));
}

/** The names of the attributes in the key of a table or an index. */
export function keyNames(schema: JsonObject): string[] {
  return listOf(schema.KeySchema).map((key) => String(objectOf(key).AttributeName));
}

/** The bytes of names and values, as DynamoDB counts them. */
export function mapSize(map: JsonObject): number {
  return Object.entries(map).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + valueSize(value), 0);
}

/** The size of an attribute value as DynamoDB counts it, numbers and binary approximately. */
function valueSize(value: unknown): number {
  const [[type = '', content] = []] = Object.entries(objectOf(value));
  switch (type) {
    case 'S':
      return Buffer.byteLength(String(content));
    case 'N':
      return Math.ceil(String(content).replace(/\D/g, '').length / 2) + 1;
    case 'B':
      return Buffer.byteLength(String(content), 'base64');
    case 'L':
      return 3 + listOf(content).reduce((sum: number, entry) => sum + 1 + valueSize(entry), 0);
    case 'M':
      return 3 + (isObject(content) ? Object.keys(content).length + mapSize(content) : 0);
    case 'SS':
    case 'NS':
    case 'BS':
      return listOf(content).reduce((sum: number, entry) => sum + valueSize({ [type.charAt(0)]: entry }), 0);
    default:
      return 1;
  }
}
