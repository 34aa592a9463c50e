import { afterEach, expect, test, vi } from 'vitest';
import { TaskNotFound } from '../../../functions/tasks/errors.ts';
import { errorFacts, isErrorName, logIgnored, logOfRequest, logUnexpected } from '../../../functions/tasks/log.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';

const SECRET = 'planted-secret';

afterEach(() => void vi.restoreAllMocks());

test('an error made for clients is not logged; any other is, by its kind and place (A-15)', () => {
  const said = vi.spyOn(console, 'error').mockReturnValue(undefined);
  logUnexpected(new TaskNotFound(), 'here');
  expect(said).not.toHaveBeenCalled();
  logUnexpected(SECRET, 'here');
  expect(said.mock.calls).toEqual([['{"event":"unexpected_error","where":"here","error":"Error"}']]);
});

test('an ignored answer is logged with five open keys of 64 characters at most (E-18, B-19)', () => {
  const said = vi.spyOn(console, 'warn').mockReturnValue(undefined);
  const task = { tool: 'x', ttl: 60_000, timeout: 60_000, accepts: [], legacy: false };
  const names = ['n'.repeat(70), ...Array.from({ length: 20 }, (_, n) => `k${n}`)];
  const inputRequests = Object.fromEntries(names.map((name) => [name, { method: 'roots/list' }]));
  const record = create({ owner: 'o', taskId: 't' }, task, 0);
  logIgnored({ ...record, status: 'input_required', asked: JSON.stringify({ inputRequests }) }, 3);
  expect(said.mock.calls.map(([line]) => JSON.parse(line))).toEqual([
    {
      ...{ event: 'answer_ignored', taskId: 't', tool: 'x', status: 'input_required', ignored: 3 },
      openKeys: [`r1.${'n'.repeat(61)}`, ...Array.from({ length: 4 }, (_, n) => `r1.k${n}`)],
    },
  ]);
});

test('a request logs each kind of failure once, and each act of another kind', () => {
  const said = vi.spyOn(console, 'error').mockReturnValue(undefined);
  const log = logOfRequest();
  const error = 'SlowDown';
  for (const where of ['reading input', 'starting a round', 'reading input']) log('unexpected_error', { where, error });
  log('unexpected_error', { where: 'reading input', error: 'TypeError' });
  for (const taskId of ['t1', 't2']) log('file_altered', { taskId });
  logOfRequest()('unexpected_error', { where: 'reading input' });
  const facts = said.mock.calls.map(([line]) => Object.values(JSON.parse(line))[1]);
  expect(facts).toEqual(['reading input', 'starting a round', 'reading input', 't1', 't2', 'reading input']);
});

const thrown = (run: () => void): unknown => {
  try {
    return run();
  } catch (error) {
    return error;
  }
};

test.each<[string, unknown]>([
  ['what JSON.parse quotes', thrown(() => JSON.parse(`{"a":${SECRET}}`))],
  ['a message', new Error(SECRET)],
  ['a message that looks like a stack', new Error(`x\n    at ${SECRET}:1:1`)],
  ['a name that is a text', Object.assign(new Error('x'), { name: `a ${SECRET}`, code: [SECRET] })],
  ['a text that was thrown', SECRET],
  ['an object that was thrown', { name: SECRET, message: SECRET }],
])('%s is in no log', (_title, error) => {
  expect(JSON.stringify(errorFacts(error))).not.toContain(SECRET);
});

test('an AWS error is logged by name, status, request id and place in the code', () => {
  const $metadata = { httpStatusCode: 400, requestId: 'r-1', attempts: 3 };
  const error = Object.assign(new Error(SECRET), { name: 'ValidationException', $metadata });
  const facts = JSON.parse(JSON.stringify(errorFacts(error)));
  expect(facts).toEqual({ error: 'ValidationException', status: 400, requestId: 'r-1', at: expect.any(Array) });
  expect(facts.at[0]).toMatch(/log\.test\.ts:\d+:\d+/);
});

test.each([
  ['TypeError', true],
  ['States.Timeout', true],
  ['', false],
  ['two words', false],
  [7, false],
])('%s as the name of an error: %s', (name, is) => {
  expect(isErrorName(name)).toBe(is);
});

test('what is no error, or has no name, is called Error', () => {
  expect(errorFacts(SECRET)).toEqual({ error: 'Error' });
  expect(errorFacts(Object.assign(new Error('x'), { name: 'two words' }))).toMatchObject({ error: 'Error' });
});

test('where it was met: three lines of the stack at most, none that may hold the message', () => {
  const frame = (n: number) => `    at f (/a.ts:${n}:1)`;
  const others = [`Error: ${SECRET}`, `${SECRET} at f (/a.ts:9:9)`, `    at f (/a.ts:9:9) ${SECRET}`];
  const stack = [...others, ...[1, 2, 3, 4].map(frame)].join('\n');
  const at = (error: Error) => (errorFacts(error) as { at: string[] }).at;
  expect(at(Object.assign(new Error('x'), { stack }))).toEqual([1, 2, 3].map((n) => frame(n).trim()));
  expect(at(Object.assign(new Error('a\nb'), { stack }))).toEqual([]);
  expect(at(Object.assign(new Error('x'), { stack: undefined }))).toEqual([]);
});
