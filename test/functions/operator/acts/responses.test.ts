import { expect, test } from 'vitest';
import { responsesFrom } from '../../../../functions/operator/acts/responses.ts';

const form = (properties: object) => ({
  method: 'elicitation/create',
  params: { message: 'm', requestedSchema: { type: 'object', properties } },
});
const open = {
  'r1.confirm': form({ confirm: { type: 'boolean' }, note: { type: 'string' } }),
  'r1.who': form({ name: { type: 'string' }, note: { type: 'string' } }),
  'r1.login': { method: 'elicitation/create', params: { mode: 'url', url: 'https://a', message: 'm' } },
};
const from = (...pairs: string[]) =>
  responsesFrom(
    pairs.map((pair) => pair.split('=') as [string, string]),
    open,
  );

test.each([
  [['confirm=true'], { 'r1.confirm': { action: 'accept', content: { confirm: true } } }],
  [['r1.who.name=5'], { 'r1.who': { action: 'accept', content: { name: '5' } } }],
  [['name=5'], { 'r1.who': { action: 'accept', content: { name: '5' } } }],
  [
    ['confirm=decline', 'who.note=x'],
    { 'r1.confirm': { action: 'decline' }, 'r1.who': { action: 'accept', content: { note: 'x' } } },
  ],
  [['login=accept'], { 'r1.login': { action: 'accept' } }],
  [['r1.who={"action":"cancel"}'], { 'r1.who': { action: 'cancel' } }],
])('%j answers %j', (pairs, responses) => {
  expect(from(...pairs)).toEqual(responses);
});

test.each([
  ['note=x', "More than one question has 'note': confirm.confirm, confirm.note, who.name, who.note, r1.login"],
  ['login=x', 'login is a question: login=decline'],
  ['age=5', "No question has 'age', only: confirm.confirm, confirm.note, who.name, who.note, r1.login"],
  ['who=x', 'who is a question: who=decline'],
])('%s is refused, and the keys are named', (pair, message) => {
  expect(() => from(pair)).toThrow(message);
});

test('a value for a question with one field is the value of that field', () => {
  const one = { 'r1.age': form({ years: { type: 'integer' } }) };
  expect(responsesFrom([['age', '5']], one)).toEqual({ 'r1.age': { action: 'accept', content: { years: 5 } } });
  expect(() => from('confirm=x', 'who=x')).toThrow('who is a question');
});

test('a whole key is the key of that question, also if a question has it as its name', () => {
  const twins = { 'r1.r1.x': form({ ok: { type: 'boolean' } }), 'r1.x': form({ ok: { type: 'boolean' } }) };
  expect(Object.keys(responsesFrom([['r1.x', '{"action":"decline"}']], twins))).toEqual(['r1.x']);
});

test('in the tenth round, too, a question has the name that its tool gave it', () => {
  const tenth = { 'r10.a': form({ ok: { type: 'boolean' }, note: {} }), 'r10.b': form({ ok: { type: 'boolean' } }) };
  const accept = (content: object) => ({ action: 'accept', content });
  expect(responsesFrom([['b', 'true']], tenth)).toEqual({ 'r10.b': accept({ ok: true }) });
  expect(responsesFrom([['a.ok', 'true']], tenth)).toEqual({ 'r10.a': accept({ ok: true }) });
  expect(() => responsesFrom([['c', '1']], tenth)).toThrow("No question has 'c', only: a.ok, a.note, b.ok");
});
