import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { type ExpressionParser, rememberExpressions } from '../../dynamodb/parsed-expressions.ts';
import type { JsonObject } from '../../json.ts';

const file = createRequire(import.meta.url).resolve('dynalite/validations');

/** dynalite's unchanged parser, from a second copy: the engine changes the copy of this process. */
function loadParser(): ExpressionParser {
  const load = createRequire(import.meta.url);
  delete load.cache[file];
  return load(file);
}

const names = { '#a': 'a', '#b': 'b' };
const n = (value: string) => ({ N: value });
const CASES: [string, (value: string) => JsonObject][] = [
  ['a condition', (v) => ({ ConditionExpression: '#a = :v AND #b > :v', ExpressionAttributeValues: { ':v': n(v) } })],
  [
    'an update',
    (v) => ({
      UpdateExpression: 'SET #a = list_append(if_not_exists(#a, :l), :l) REMOVE #b',
      ExpressionAttributeValues: { ':l': { L: [n(v)] } },
    }),
  ],
  ['a sum', (v) => ({ UpdateExpression: 'SET #a = #b + :v', ExpressionAttributeValues: { ':v': n(v) } })],
  ['a set', (v) => ({ UpdateExpression: 'ADD #a.#b :v', ExpressionAttributeValues: { ':v': { SS: [v] } } })],
  ['keys', (v) => ({ KeyConditionExpression: '#a = :v AND #b < :v', ExpressionAttributeValues: { ':v': { S: v } } })],
  ['bounds', (v) => ({ ConditionExpression: '#a BETWEEN :x AND :v AND #b = :x', ...bounds(v) })],
  ['a type', (v) => ({ ConditionExpression: 'attribute_type(#a, :v) AND #b = :v', ...type(v) })],
  ['no values', () => ({ ProjectionExpression: '#a, #b.c[1]' })],
  ['an unknown value', () => ({ ConditionExpression: '#a = :w AND #b = :w' })],
  ['an unused value', (v) => ({ ConditionExpression: 'size(#a) = #b', ExpressionAttributeValues: { ':v': n(v) } })],
  [
    'no number',
    (v) => ({ ConditionExpression: '#a = #b OR #a > :v', ExpressionAttributeValues: { ':v': n(`${v}x`) } }),
  ],
  [
    'a map',
    (v) => ({ UpdateExpression: 'SET #a = :v, #b = :v', ExpressionAttributeValues: { ':v': { M: { v: n(v) } } } }),
  ],
];
const bounds = (v: string) => ({ ExpressionAttributeValues: { ':x': n('5'), ':v': n(v) } });
const type = (v: string) => ({ ExpressionAttributeValues: { ':v': { S: v === '1' ? 'N' : 'nothing' } } });

test.each(CASES)('%s, asked again with other values, is parsed as dynalite parses it', (_what, make) => {
  const [plain, remembering] = [loadParser(), loadParser()];
  rememberExpressions(remembering);
  const parsed = (parser: ExpressionParser, value: string) => {
    const data = { ...make(value), ExpressionAttributeNames: names };
    return [parser.validateExpressions(data), data];
  };
  for (const value of ['1', '9', '1', '007', 'x']) {
    expect(parsed(remembering, value)).toEqual(parsed(plain, value));
  }
});

test('what an action changes in one request does not reach the next', () => {
  const parser = loadParser();
  rememberExpressions(parser);
  const parse = () => {
    const data: JsonObject = { UpdateExpression: 'SET a = :v', ExpressionAttributeValues: { ':v': n('1') } };
    expect(parser.validateExpressions(data)).toBeUndefined();
    return data._updates as { sections: { val: unknown }[] };
  };
  for (let request = 0; request < 3; request++) {
    const [section] = parse().sections;
    expect(section?.val).toEqual(n('1'));
    if (section) section.val = 'changed';
  }
});
