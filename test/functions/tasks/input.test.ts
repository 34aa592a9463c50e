import { expect, test } from 'vitest';
import { answersByName, asked, outstanding, requestState, wireKey } from '../../../functions/tasks/input.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';

const task = { tool: 'x', ttl: 60_000, timeout: 60_000, accepts: [], legacy: false };
const questions = { a: { method: 'roots/list' }, b: { method: 'roots/list' } };
const waiting = (more: Partial<TaskRecord> = {}): TaskRecord => ({
  ...create({ owner: 'o', taskId: 't' }, task, 0),
  ...{
    status: 'input_required',
    round: 2,
    asked: JSON.stringify({ inputRequests: questions, requestState: { n: 1 } }),
  },
  ...more,
});

test('a question is open under the key of its round until it is answered (E-20)', () => {
  expect(wireKey(2, 'a')).toBe('r2.a');
  expect(outstanding(waiting())).toEqual({ 'r2.a': questions.a, 'r2.b': questions.b });
  expect(outstanding(waiting({ inputResponses: { 'r1.b': '{}', 'r2.a': '{}' } }))).toEqual({ 'r2.b': questions.b });
  expect(Object.keys(outstanding(waiting({ inputResponses: undefined as never })))).toEqual(['r2.a', 'r2.b']);
});

test.each([
  ['works', { status: 'working' as const }],
  ['has asked nothing', { asked: undefined as never }],
  ['asks what is no object', { asked: '{"inputRequests":["x"]}' }],
  ['asks what is no JSON', { asked: '{' }],
])('no question of a task is open that %s', (_title, more) => {
  expect(outstanding(waiting(more))).toEqual({});
});

test('a tool gets the answers by its own names: of two to one name, the later one', () => {
  const inputResponses = { 'r10.a': '"new"', 'r9.a': '"old"', 'r1.a.b': '1', 'r1.x\ny': '2', odd: '3', 'xr1.c': '4' };
  const answers = answersByName(waiting({ inputResponses }));
  expect(answers).toEqual({ a: 'new', 'a.b': 1, 'x\ny': 2, odd: 3, 'xr1.c': 4 });
  expect(answersByName(waiting({ inputResponses: undefined as never }))).toEqual({});
});

test('answers come by round and then by name, in any order of the table', () => {
  const inputResponses = { 'r2.a': '5', 'r1.c': '4', 'r1.b': '3', 'r1.d': '2' };
  const backwards = Object.fromEntries(Object.entries(inputResponses).reverse());
  for (const each of [inputResponses, backwards]) {
    expect(Object.keys(answersByName(waiting({ inputResponses: each })))).toEqual(['b', 'c', 'd', 'a']);
  }
});

test('a tool gets its state again, or null', () => {
  expect(requestState(waiting())).toEqual({ n: 1 });
  expect(requestState(waiting({ asked: '{}' }))).toBeNull();
  expect(asked({ asked: '[]' })).toEqual({});
  expect(asked({})).toEqual({});
});
