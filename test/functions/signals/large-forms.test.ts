import { expect, test } from 'vitest';
import { processorTime } from '../../../functions/mcp/processor-time.ts';
import { answerOfForm } from '../../../functions/signals/page/answer-of-form.ts';
import { limits } from '../../../functions/tasks/limits.ts';

const requestedSchema = { type: 'object', properties: { amount: { type: 'number' }, tags: { type: 'array' } } };
const question = { method: 'elicitation/create', params: { message: 'How many?', requestedSchema } };

const BYTES = limits.signal.body - 100;
const timeOf = (body: string): number => {
  const before = processorTime();
  answerOfForm(body, question);
  return processorTime() - before;
};
const named = (name: string, length: number) => `${name}=&`.repeat(Math.floor(length / (name.length + 2)));

test.each([
  ['a long text that is nearly a number', (bytes: number) => `action=accept&f0=${'1'.repeat(bytes)}x`],
  ['one name again and again', (bytes: number) => named('a', bytes)],
  ['one field again and again', (bytes: number) => `action=accept&${named('f1', bytes)}`],
])('%s takes time in proportion to its length', (_name, body) => {
  const some = Array.from({ length: 16 }, () => body(BYTES / 16));
  for (const one of some) timeOf(one);
  const short = some.reduce((sum, one) => sum + timeOf(one), 0);
  // Of work that grows with the square of the length, the long one is 16 times as much.
  expect(Math.min(...Array.from({ length: 3 }, () => timeOf(body(BYTES))))).toBeLessThan(5 * Math.max(short, 5));
});
