import { expect, test } from 'vitest';
import type { ForeignClient, Step } from './catalog.ts';
import { judge, matrix, type Seen } from './judge.ts';

const client: ForeignClient = { name: 'A', folder: 'a', era: '2026-07-28', toolchain: 'node', steps: ['run'] };
const verdicts = (step: Step, facts: Seen['facts'], ...statuses: string[]) =>
  judge(step, { facts, created: statuses.map((status) => ({ tool: 't', status })) }, client);
const wrong = expect.stringMatching(/: it ended without$/);

test('a call is right with one task, its progress and its result', () => {
  const facts = [{ task: '1' }, { progress: 'number 2 of 4' }, { result: 'counted to the end' }];
  expect(verdicts('run', facts, 'completed')).toEqual({ create: 'yes', progress: 'yes', result: 'yes' });
  expect(verdicts('run', facts, 'completed', 'working')).toMatchObject({ create: wrong });
  expect(verdicts('run', [{ progress: null }, { result: 'other' }])).toEqual({
    create: wrong,
    progress: wrong,
    result: wrong,
  });
});

test('questions are right when each was asked once and the result holds the answers', () => {
  const [first, second] = [{ question: 'How many people?' }, { question: 'How much tip?' }];
  const result = { result: '4 people, 4 percent' };
  expect(verdicts('question', [first, second, result])).toEqual({ question: 'yes' });
  expect(verdicts('question', [first, first, second, result])).toEqual({ question: wrong });
  expect(verdicts('question', [first, second])).toEqual({ question: wrong });
});

test('a cancel is right when both the client and the server say so', () => {
  expect(verdicts('cancel', [{ status: 'cancelled' }], 'cancelled')).toEqual({ cancel: 'yes' });
  expect(verdicts('cancel', [{ status: 'cancelled' }], 'working')).toEqual({ cancel: wrong });
  expect(verdicts('cancel', [{ status: 'working' }], 'cancelled')).toEqual({ cancel: wrong });
});

test('a file is right when its link is shown, and is read when all of it is', () => {
  const shown = { file: 'http://127.0.0.1:1/files/key.token/film.bin' };
  expect(verdicts('file', [shown, { read: 1_000_000 }], 'completed')).toEqual({ file: 'yes', read: 'yes' });
  expect(verdicts('file', [shown, { read: 7 }], 'completed')).toEqual({ file: 'yes', read: wrong });
  expect(verdicts('file', [shown], 'completed')).toEqual({ file: 'yes', read: wrong });
  expect(verdicts('file', [{ file: 'mcp-task-file:a/film.bin' }], 'completed')).toEqual({ file: wrong, read: wrong });
});

test('a helper tool is right when there is one task and its result', () => {
  const facts = [{ seen: 'still running' }, { result: 'counted to the end' }];
  expect(verdicts('helper', facts, 'completed')).toEqual({ helper: 'yes' });
  expect(verdicts('helper', facts, 'completed', 'completed')).toEqual({ helper: wrong });
  expect(verdicts('helper', [{ result: 'still running' }], 'working')).toEqual({ helper: wrong });
});

test('the matrix shows what was skipped, what a client cannot do, and says what went wrong', () => {
  const printed = matrix([
    { client, verdicts: { create: 'yes', result: 'result undefined: ended with 1' } },
    { client: { ...client, name: 'B' }, verdicts: 'skipped: no usable go' },
  ]);
  expect(printed).toContain('| A | 2026-07-28 | yes | – | – | NO | – | – |');
  expect(printed).toContain('| B | 2026-07-28 | skipped: no usable go |');
  expect(printed).toContain('A, 2026-07-28, result: result undefined: ended with 1');
});
