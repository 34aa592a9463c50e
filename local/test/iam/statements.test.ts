import { describe, expect, test } from 'vitest';
import type { ConditionKeys } from '../../iam/conditions.ts';
import { isAction, isArn } from '../../iam/patterns.ts';
import { type AccessRequest, covering, readStatements, type Statement } from '../../iam/statements.ts';

const statement = (more: object) => {
  const document = { Statement: { Effect: 'Allow', Action: 'a:B', Resource: '*', ...more } };
  const [read] = readStatements(document, 'P', '(here)');
  if (!read) throw new Error('there is none');
  return read;
};
const request = (context: ConditionKeys = {}) => ({ action: 'a:B', resource: 'arn:aws:a:r:1:x', context });
const match = (one: Statement, asked: AccessRequest) =>
  covering([one], asked).find((covers) => covers.statement.condition(asked.context))?.grant;
const holds = (condition: object, context: ConditionKeys) =>
  match(statement({ Condition: condition }), request(context)) !== undefined;

describe('patterns', () => {
  test.each([
    ['dynamodb:GetItem', 'dynamodb:GetItem', true],
    ['dynamodb:GetItem', 'DynamoDB:getitem', true],
    ['dynamodb:GetItem', 'dynamodb:Get*', true],
    ['dynamodb:GetItem', 'dynamodb:Get?tem', true],
    ['dynamodb:GetItem', '*', true],
    ['dynamodb:BatchGetItem', 'dynamodb:Get*', false],
    ['s3:GetObject', 'dynamodb:*', false],
    ['s3:GetObject', 's3.GetObject', false],
  ])('the action %s and %s: %s', (action, pattern, expected) => expect(isAction(action, pattern)).toBe(expected));

  const table = 'arn:aws:dynamodb:us-east-1:1:table/T';
  const execution = 'arn:aws:states:us-east-1:1:execution:S-x:task-r1';
  test.each([
    [table, table, true],
    [table, `${table}/index/*`, false],
    [`${table}/index/due`, table, false],
    [`${table}/index/due`, `${table}/index/*`, true],
    [table, 'arn:aws:dynamodb:*:*:table/*', true],
    [table, 'arn:aws:dynamodb:us-east-1:1:table/t', false],
    [execution, 'arn:aws:states:us-east-1:1:execution:S-*:*', true],
    [execution, 'arn:aws:states:us-east-1:1:execution:R-*:*', false],
    [execution, 'arn:aws:states:us-east-1:1:stateMachine:S-*', false],
    // A wildcard stays in its part of the ARN.
    [execution, 'arn:aws:states:*:task-r1', false],
    ['arn:aws:s3:::b/results/a/b', 'arn:aws:s3:::b/results/*', true],
    ['arn:aws:s3:::b/other/results/a', 'arn:aws:s3:::b/results/*', false],
    ['*', 'arn:aws:s3:::b/*', false],
    ['*', '*', true],
  ])('the resource %s and %s: %s', (arn, pattern, expected) => expect(isArn(arn, pattern)).toBe(expected));
});

describe('conditions', () => {
  const key = 'dynamodb:Attributes';
  const only = { [key]: ['a', 'b'] };
  const leading = 'dynamodb:LeadingKeys';
  const own = { [leading]: ['p#*'] };
  test.each<[string, object, ConditionKeys, boolean]>([
    ['every value is one of those', { 'ForAllValues:StringEquals': only }, { [key]: ['a', 'b'] }, true],
    ['one is not', { 'ForAllValues:StringEquals': only }, { [key]: ['a', 'c'] }, false],
    ['there is none', { 'ForAllValues:StringEquals': only }, { [key]: [] }, true],
    ['there is no such key', { 'ForAllValues:StringEquals': only }, {}, true],
    ['any value is one of those', { 'ForAnyValue:StringEquals': only }, { [key]: ['a', 'c'] }, true],
    ['not any', { 'ForAnyValue:StringEquals': only }, { [key]: ['c'] }, false],
    ['ForAnyValue of nothing', { 'ForAnyValue:StringEquals': only }, {}, false],
    ['the value', { StringEquals: { 'dynamodb:Select': 'COUNT' } }, { 'dynamodb:Select': 'COUNT' }, true],
    ['in another case', { StringEquals: { 'dynamodb:Select': 'COUNT' } }, { 'dynamodb:Select': 'count' }, false],
    ['a key in another case', { StringEquals: { 'DynamoDB:select': 'COUNT' } }, { 'dynamodb:Select': 'COUNT' }, true],
    ['no value', { StringEquals: { 'dynamodb:Select': 'COUNT' } }, {}, false],
    ['if there is one', { StringEqualsIfExists: { 'dynamodb:Select': 'COUNT' } }, {}, true],
    ['there is another', { StringEqualsIfExists: { 'dynamodb:Select': 'COUNT' } }, { 'dynamodb:Select': 'X' }, false],
    ['like', { StringLike: { 'dynamodb:Select': 'SPEC*' } }, { 'dynamodb:Select': 'SPECIFIC' }, true],
    ['none of those', { StringNotEquals: { 'dynamodb:Select': ['A', 'B'] } }, { 'dynamodb:Select': 'B' }, false],
    ['another', { StringNotEquals: { 'dynamodb:Select': ['A', 'B'] } }, { 'dynamodb:Select': 'C' }, true],
    ['not, of no value', { StringNotEquals: { 'dynamodb:Select': 'A' } }, {}, true],
    ['an ARN', { ArnLike: { 'aws:SourceArn': 'arn:aws:x:*:1:a*' } }, { 'aws:SourceArn': 'arn:aws:x:r:1:ab' }, true],
    ['a flag', { Bool: { 'aws:SecureTransport': 'false' } }, { 'aws:SecureTransport': 'true' }, false],
    ['every value is like it', { 'ForAllValues:StringLike': own }, { [leading]: ['p#a', 'p#'] }, true],
    ['one is not like it', { 'ForAllValues:StringLike': own }, { [leading]: ['p#a', 'a'] }, false],
    ['like it in the middle', { 'ForAllValues:StringLike': own }, { [leading]: ['x p#a'] }, false],
    ['like nothing that is there', { 'ForAllValues:StringLike': own }, {}, true],
    ['the key is there', { Null: { [leading]: 'false' } }, { [leading]: ['p#a'] }, true],
    ['the key is not there', { Null: { [leading]: false } }, {}, false],
    ['the key is empty', { Null: { [leading]: 'false' } }, { [leading]: [] }, false],
    ['the key is an empty text', { Null: { 'dynamodb:Select': 'false' } }, { 'dynamodb:Select': '' }, false],
    ['the key must be absent', { Null: { [leading]: ['true'] } }, {}, true],
    ['the key must be absent, and is not', { Null: { [leading]: 'true' } }, { [leading]: ['a'] }, false],
    [
      'both of two',
      { StringEquals: { 'dynamodb:Select': 'A' }, StringLike: { 'dynamodb:ReturnValues': 'N*' } },
      { 'dynamodb:Select': 'A', 'dynamodb:ReturnValues': 'ALL_NEW' },
      false,
    ],
  ])('%s', (_title, condition, context, expected) => expect(holds(condition, context)).toBe(expected));

  test.each<[string, object, string]>([
    [
      'an operator',
      { NumericLessThan: { 'aws:SourceArn': 1 } },
      'does not know the condition operator NumericLessThan (here)',
    ],
    [
      'a key',
      { StringEquals: { 'aws:PrincipalTag/x': 'y' } },
      'does not know the condition key aws:PrincipalTag/x (here)',
    ],
    ['a set of Null', { 'ForAllValues:Null': { [leading]: 'false' } }, 'operator ForAllValues:Null (here)'],
    ['a Null', { Null: { [leading]: 'no' } }, 'Null is true or false, not no (here)'],
    ['a key of Null', { Null: { 'aws:x': 'false' } }, 'does not know the condition key aws:x (here)'],
    ['a variable', { StringEquals: { 'aws:SourceArn': `$\{aws:userid}` } }, 'does not know the policy variable'],
  ])('%s that is not known is refused', (_title, Condition, message) => {
    expect(() => statement({ Condition })).toThrow(message);
  });
});

describe('a statement', () => {
  test('is about its action and its resource', () => {
    expect(match(statement({ Action: ['x:Y', 'a:*'] }), request())).toEqual({ action: 'a:*', resource: '*' });
    expect(match(statement({ Action: 'x:Y' }), request())).toBeUndefined();
    expect(match(statement({ Resource: 'arn:aws:a:r:1:y' }), request())).toBeUndefined();
  });

  test('is about all but what NotAction and NotResource name', () => {
    const but = (more: object) => match(statement(more), request()) !== undefined;
    expect(but({ Action: undefined, NotAction: 'x:Y' })).toBe(true);
    expect(but({ Action: undefined, NotAction: ['x:Y', 'a:B'] })).toBe(false);
    expect(but({ Resource: undefined, NotResource: 'arn:aws:a:r:1:y' })).toBe(true);
    expect(but({ Resource: undefined, NotResource: 'arn:aws:a:r:1:*' })).toBe(false);
  });

  test('that is not understood is refused', () => {
    expect(() => statement({ NotPrincipal: '*' })).toThrow(
      'the embedded cloud does not know NotPrincipal of a statement (here)',
    );
    expect(() => statement({ Effect: 'Maybe' })).toThrow('a statement allows or denies (here)');
    expect(() => readStatements({}, 'P', '(here)')).toThrow('a policy has no Statement (here)');
  });
});
