// biome-ignore-all lint/suspicious/noTemplateCurlyInString: CloudFormation writes references like this.
import { describe, expect, test } from 'vitest';
import { createResolve, type Scope } from '../template/intrinsics.ts';

const parameters: Record<string, unknown> = { 'AWS::Region': 'eu-west-1', Stage: 'prod', Zones: ['a', 'b'] };
const scope: Scope = {
  parameter: (name) => parameters[name],
  ref: (id) => (id === 'Table' ? 'the-table' : undefined),
  getAtt: (id, attribute) => (`${id}.${attribute}` === 'Table.Arn' ? 'arn:table' : undefined),
  conditions: {
    IsProd: { 'Fn::Equals': [{ Ref: 'Stage' }, 'prod'] },
    IsNotProd: { 'Fn::Not': [{ Condition: 'IsProd' }] },
    Either: { 'Fn::Or': [{ Condition: 'IsNotProd' }, { Condition: 'IsProd' }] },
    Both: { 'Fn::And': [{ Condition: 'IsNotProd' }, { Condition: 'IsProd' }] },
  },
};
const resolve = (value: unknown) => createResolve(scope)(value, '(here)');

const KNOWN: [name: string, value: unknown, resolved: unknown][] = [
  ['plain values', { a: [1, true, null, 'x'], b: {} }, { a: [1, true, null, 'x'], b: {} }],
  ['Ref of a resource', { Ref: 'Table' }, 'the-table'],
  ['Ref of a pseudo parameter', { Ref: 'AWS::Region' }, 'eu-west-1'],
  ['Fn::GetAtt', { 'Fn::GetAtt': ['Table', 'Arn'] }, 'arn:table'],
  ['Fn::GetAtt with a dot', { 'Fn::GetAtt': 'Table.Arn' }, 'arn:table'],
  ['Fn::Join', { 'Fn::Join': ['-', ['a', { Ref: 'Table' }]] }, 'a-the-table'],
  ['Fn::Join of a list', { 'Fn::Join': [',', { Ref: 'Zones' }] }, 'a,b'],
  ['Fn::Split', { 'Fn::Split': ['-', { Ref: 'Table' }] }, ['the', 'table']],
  ['Fn::Select', { 'Fn::Select': [1, { 'Fn::Split': ['-', 'x-y'] }] }, 'y'],
  ['Fn::Select with text', { 'Fn::Select': ['0', ['x']] }, 'x'],
  ['Fn::Sub', { 'Fn::Sub': '${AWS::Region}/${Table}/${Table.Arn}/${!Not}' }, 'eu-west-1/the-table/arn:table/${Not}'],
  ['Fn::Sub with variables', { 'Fn::Sub': ['${x}-${Stage}', { x: { Ref: 'Table' } }] }, 'the-table-prod'],
  ['Fn::Base64', { 'Fn::Base64': 'hi' }, 'aGk='],
  ['Fn::If', { 'Fn::If': ['IsProd', 'yes', 'no'] }, 'yes'],
  ['Fn::If, the other way', { 'Fn::If': ['IsNotProd', 'yes', 'no'] }, 'no'],
  ['Fn::Or', { 'Fn::If': ['Either', 1, 2] }, 1],
  ['Fn::And', { 'Fn::If': ['Both', 1, 2] }, 2],
  [
    'AWS::NoValue',
    { a: { Ref: 'AWS::NoValue' }, b: [{ 'Fn::If': ['IsProd', { Ref: 'AWS::NoValue' }, 1] }, 2] },
    { b: [2] },
  ],
  ['a condition of a policy', { Condition: { Bool: { x: 'true' } } }, { Condition: { Bool: { x: 'true' } } }],
];

test.each(KNOWN)('%s', (_name, value, resolved) => {
  expect(resolve(value)).toEqual(resolved);
});

describe('refuses, and says where', () => {
  const REFUSED: [name: string, value: unknown, message: string][] = [
    ['unknown functions', { 'Fn::ImportValue': 'x' }, 'does not know Fn::ImportValue (here)'],
    ['unknown references', { Ref: 'Nothing' }, 'does not know the Ref of Nothing (here)'],
    ['unknown attributes', { 'Fn::GetAtt': ['Table', 'StreamArn'] }, 'does not know Fn::GetAtt Table.StreamArn (here)'],
    ['unknown conditions', { 'Fn::If': ['Nope', 1, 2] }, '(here): there is no condition Nope'],
    ['dynamic references', '{{resolve:ssm:/x}}', 'does not know dynamic references (here)'],
    ['names inherited from Object', { 'Fn::toString': 'x' }, 'does not know Fn::toString (here)'],
    ['a wrong number of arguments', { 'Fn::Join': [','] }, 'needs 2 arguments (here)'],
    ['a selection beyond the list', { 'Fn::Select': [3, ['a']] }, 'nothing to select (here)'],
  ];
  test.each(REFUSED)('%s', (_name, value, message) => {
    expect(() => resolve({ deep: [value] })).toThrow(message);
  });
});
