import { describe, expect, test } from 'vitest';
import { compilePattern } from '../../events/pattern.ts';
import type { JsonObject } from '../../json.ts';

const compile = (pattern: JsonObject) =>
  compilePattern(pattern, (path, value) => {
    throw new Error(`${path}: ${JSON.stringify(value)}`);
  });
const event = {
  source: 'aws.states',
  resources: ['arn:one', 'arn:two'],
  detail: { status: 'FAILED', stopDate: null, count: 1, on: true, inputDetails: { included: false } },
};

describe('an event pattern', () => {
  const MATCHING: [name: string, pattern: JsonObject][] = [
    ['one literal', { source: ['aws.states'] }],
    ['one of several literals', { detail: { status: ['ABORTED', 'FAILED'] } }],
    ['null, numbers and truth values', { detail: { stopDate: [null], count: [1], on: [true] } }],
    ['a prefix', { source: [{ prefix: 'aws.' }] }],
    ['the empty prefix', { source: [{ prefix: '' }] }],
    ['a literal beside a prefix', { source: ['x', { prefix: 'aws' }] }],
    ['an object in an object', { detail: { inputDetails: { included: [false] } } }],
    ['any entry of a list', { resources: [{ prefix: 'arn:two' }] }],
    ['what is there', { detail: { stopDate: [{ exists: true }] } }],
    ['what is not there', { detail: { error: [{ exists: false }], 'other.thing': [{ exists: false }] } }],
    ['what is not there, in an object that is not there', { detail: { none: { error: [{ exists: false }] } } }],
  ];
  test.each(MATCHING)('matches by %s', (_name, pattern) => expect(compile(pattern)(event)).toBe(true));

  const OTHERS: [name: string, pattern: JsonObject][] = [
    ['another value', { source: ['aws.s3'] }],
    ['one field of two', { source: ['aws.states'], detail: { status: ['SUCCEEDED'] } }],
    ['a number as text', { detail: { count: ['1'] } }],
    ['a field that is not there, not even for null', { detail: { error: [null] } }],
    ['a field every object has', { constructor: [{ prefix: '' }] }],
    ['an object where none exists', { source: { name: ['aws.states'] } }],
    ['a prefix of what is not text', { detail: { count: [{ prefix: '1' }] } }],
    ['a prefix further on', { source: [{ prefix: 'states' }] }],
    ['the absence of what is there', { source: [{ exists: false }] }],
    ['the presence of an object', { detail: [{ exists: true }] }],
  ];
  test.each(OTHERS)('does not match by %s', (_name, pattern) => expect(compile(pattern)(event)).toBe(false));

  const UNKNOWN: [pattern: JsonObject, message: string][] = [
    [{ source: 'aws.states' }, 'EventPattern.source: "aws.states"'],
    [{ source: [] }, 'EventPattern.source: []'],
    [{}, 'EventPattern: {}'],
    [{ detail: {} }, 'EventPattern.detail: {}'],
    [{ detail: { status: [{ cidr: '10.0.0.0/8' }] } }, 'EventPattern.detail.status: {"cidr":"10.0.0.0/8"}'],
    [{ detail: { status: [{ exists: 'yes' }] } }, 'EventPattern.detail.status'],
    [{ detail: { status: [{ prefix: 5 }] } }, 'EventPattern.detail.status'],
    [{ detail: { status: [{ prefix: 'a', suffix: 'b' }] } }, 'EventPattern.detail.status'],
    [{ detail: { status: [['x']] } }, 'EventPattern.detail.status: ["x"]'],
    [{ detail: { status: [{ 'anything-but': 'x' }] } }, 'EventPattern.detail.status'],
    [{ $or: [{ source: ['a'] }, { source: ['b'] }] }, 'EventPattern.$or'],
  ];
  test.each(UNKNOWN)('refuses %j', (pattern, message) => expect(() => compile(pattern)).toThrow(message));
});
