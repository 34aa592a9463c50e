import { expect, test } from 'vitest';
import { roundInput } from '../../../functions/tasks/round-input.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';

const task = { tool: 't', ttl: 60_000, timeout: 60_000, accepts: [], legacy: false };
const record = create({ owner: 'o', taskId: 'a' }, task, 0);

test('a round starts with what the tool needs of its record, within the limit of Step Functions', () => {
  const answered = { ...record, accepts: ['roots/list'], inputResponses: { 'r1.a': '1' }, round: 2 };
  expect(JSON.parse(roundInput({ ...answered, asked: '{"requestState":{"n":1}}' }, '{"x":1}') ?? '')).toEqual({
    ...{ owner: 'o', taskId: 'a', tool: 't', round: 2, deadlineAt: 60_000, arguments: '{"x":1}' },
    ...{ accepts: ['roots/list'], inputResponses: { a: 1 }, requestState: { n: 1 } },
  });
  const empty = roundInput(record, '') ?? '';
  expect(JSON.parse(empty)).toMatchObject({ accepts: [], inputResponses: {}, requestState: null });
  const room = 262_144 - Buffer.byteLength(empty);
  expect(roundInput(record, 'é'.repeat(room / 2))).toBeDefined();
  expect(roundInput(record, `${'é'.repeat(room / 2)}xx`)).toBeUndefined();
});

test('each round gets the caller of its record', () => {
  const text = roundInput({ ...record, caller: '{"subject":"ann"}', round: 2 }, '{}') ?? '';
  expect(JSON.parse(text)).toHaveProperty('caller', { subject: 'ann' });
  expect(JSON.parse(roundInput(record, '{}') ?? '')).not.toHaveProperty('caller');
});

test('a round keeps its arguments in the record, unless they are in S3', () => {
  expect(JSON.parse(roundInput(record, '{}') ?? '')).not.toHaveProperty('keepArguments');
  expect(JSON.parse(roundInput(record, '{}', false) ?? '')).toHaveProperty('keepArguments', false);
});

test('a round that was on another engine has a past, as its first run may have worked (row 23)', () => {
  const past = (engine?: 'standard' | 'express') =>
    JSON.parse(roundInput({ ...record, ...(engine && { engine }) }, '{}') ?? '').hasPast;
  expect([past(), past('express'), past('standard')]).toEqual([undefined, undefined, true]);
});
