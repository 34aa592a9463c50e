import { expect, test } from 'vitest';
import { indexWriteUnits, writeUnits } from '../../dynamodb/units.ts';

const schema = (Projection: object) => ({
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  GlobalSecondaryIndexes: [
    {
      IndexName: 'due',
      KeySchema: [
        { AttributeName: 'due', KeyType: 'HASH' },
        { AttributeName: 'at', KeyType: 'RANGE' },
      ],
      Projection,
    },
  ],
});
const item = (more: object = {}) => ({ id: { S: '1' }, due: { S: 'x' }, at: { N: '5' }, ...more });
const long = { S: 'y'.repeat(2000) };

const KEYS = { ProjectionType: 'KEYS_ONLY' };
const SOME = { ProjectionType: 'INCLUDE', NonKeyAttributes: ['name'] };
const ALL = { ProjectionType: 'ALL' };

test.each<[name: string, projection: object, before: object | undefined, after: object | undefined, units: number]>([
  ['an item that is not in the index', KEYS, undefined, { id: { S: '1' }, due: { S: 'x' } }, 0],
  ['a new entry', KEYS, undefined, item(), 1],
  ['an entry that goes', KEYS, item(), undefined, 1],
  ['an entry that moves', KEYS, item(), item({ at: { N: '6' } }), 2],
  ['a change the index does not hold', KEYS, item(), item({ name: long }), 0],
  ['a change it holds', SOME, item(), item({ name: { S: 'n' } }), 1],
  ['a change beside what it holds', SOME, item({ name: { S: 'n' } }), item({ name: { S: 'n' }, other: long }), 0],
  ['a large entry', ALL, undefined, item({ name: long }), 2],
  ['a large entry that shrinks', ALL, item({ name: long }), item(), 2],
])('%s', (_name, projection, before, after, units) => {
  expect(indexWriteUnits(schema(projection), before as never, after as never)).toBe(units);
});

test('the size of an item', () => {
  expect(writeUnits(undefined)).toBe(0);
  expect(writeUnits({})).toBe(1);
  expect(writeUnits({ a: { S: 'x'.repeat(1023) } })).toBe(1);
  expect(writeUnits({ a: { S: 'x'.repeat(1024) } })).toBe(2);
  expect(writeUnits({ a: { S: 'ä'.repeat(512) } })).toBe(2);
  expect(writeUnits({ a: { M: { b: { L: [{ B: Buffer.alloc(1100).toString('base64') }, { BOOL: true }] } } } })).toBe(
    2,
  );
  expect(writeUnits({ a: { SS: ['x'.repeat(600), 'y'.repeat(600)] }, n: { N: '-12.5' } })).toBe(2);
});
