import { describe, expect, test } from 'vitest';
import { asOf } from '../../../../functions/tasks/deadlines.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import { questionProblem } from '../../../../functions/tasks/questions/question-problem.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { roundInput } from '../../../../functions/tasks/round-input.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';

const now = 1_700_000_000_000;
const form = {
  method: 'elicitation/create',
  params: { message: '?', requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } } },
};
const task = { tool: 'x', ttl: 60_000, timeout: 60_000, accepts: ['elicitation/create'], legacy: false };

function waiting(asked: unknown, more: Partial<TaskRecord> = {}): TaskRecord {
  const record = create({ owner: 'o', taskId: 't' }, task, now);
  return { ...record, status: 'input_required', asked: JSON.stringify(asked), arguments: '{}', ...more };
}
const reasonOf = (record: TaskRecord) =>
  (questionProblem(record)?.error.data as { reason?: string } | undefined)?.reason;

test('questions that its client can be asked are no problem', () => {
  expect(questionProblem(waiting({ inputRequests: { a: form }, requestState: { n: 1 } }))).toBeUndefined();
});

test('each kind that its client cannot be asked is named once, however many questions there are', () => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`q${i}`, { method: 'roots/list' }]));
  expect(questionProblem(waiting({ inputRequests: { ...many, a: form } }))?.error.data).toMatchObject({
    kinds: ['roots/list'],
  });
});

const TOO_MUCH =
  'The tool asked for input with too much state: questions, state, arguments and earlier answers may take 240 KB together';

describe('a task whose questions cannot be asked reads as failed (E-32)', () => {
  test.each([
    ['InputRequestInvalid', { inputRequests: {} }],
    ['InputRequestInvalid', { inputRequests: [] }],
    ['InputRequestInvalid', { inputRequests: null }],
    ['InputRequestInvalid', { inputRequests: 'a' }],
    ['InputRequestInvalid', 'no object'],
    ['InputRequestInvalid', null],
    ['InputRequestInvalid', { inputRequests: { a: 5 } }],
    ['InputRequestInvalid', { inputRequests: { a: form, b: 5 } }],
    ['InputRequestInvalid', { inputRequests: { ['a'.repeat(129)]: form } }],
    ['InputRequestInvalid', { inputRequests: { a: { method: 'elicitation/create' } } }],
    ['InputNotSupported', { inputRequests: { a: { method: 'roots/list' } } }],
    ['InputNotSupported', { inputRequests: { a: form, b: { method: 'roots/list' } } }],
    [
      'InputNotSupported',
      {
        inputRequests: {
          a: { method: 'elicitation/create', params: { mode: 'url', message: '?', url: 'https://a.example' } },
        },
      },
    ],
    ['InputRequestTooLarge', { inputRequests: { a: form }, requestState: 'x'.repeat(240_000) }],
  ])('%s: %.80j', (reason, asked) => {
    const record = waiting(asked);
    expect(reasonOf(record)).toBe(reason);
    expect(asOf(record, now)).toMatchObject({ status: 'failed', error: expect.stringContaining(reason) });
  });

  test.each<[string, object, Partial<TaskRecord>, object]>([
    ['The tool asked for input in a form that is not valid', {}, {}, { reason: 'InputRequestInvalid' }],
    [
      'The tool needs input of a kind that the client did not declare it can give',
      { inputRequests: { a: form } },
      { accepts: undefined as never },
      { reason: 'InputNotSupported', kinds: ['elicitation/create'] },
    ],
    [
      TOO_MUCH,
      { inputRequests: { a: form }, requestState: 'x'.repeat(240_000) },
      {},
      { reason: 'InputRequestTooLarge' },
    ],
  ])('the error says: %s', (message, asked, more, data) => {
    expect(questionProblem(waiting(asked, more))?.error).toStrictEqual({ code: -32603, message, data });
  });

  test('240,000 bytes are not too large, and one more is', () => {
    const sized = (state: number) => waiting({ inputRequests: { a: form }, requestState: 'x'.repeat(state) });
    const rest = Buffer.byteLength(`${sized(0).asked}${JSON.stringify(['{}', {}])}`);
    expect(questionProblem(sized(240_000 - rest))).toBeUndefined();
    expect(reasonOf(sized(240_001 - rest))).toBe('InputRequestTooLarge');
  });

  test('the error names the kinds that the client did not declare', () => {
    const record = waiting({ inputRequests: { a: form, b: { method: 'roots/list' } } });
    expect(questionProblem(record)?.error).toMatchObject({ data: { kinds: ['roots/list'] } });
  });
});

// A character of every length in UTF-8, and two that need an escape within the text of arguments.
test.each(['x', 'é', '中', '🙂', '"', '\n'])('questions leave room for answers, in bytes: %j', (character) => {
  const ask = (bytes: number) => {
    const half = character.repeat(bytes / 2 / (Buffer.byteLength(JSON.stringify(JSON.stringify(character))) - 6));
    const args = JSON.stringify({ half });
    const record = waiting({ inputRequests: { a: form }, requestState: half }, { arguments: args });
    return { reason: reasonOf(record), next: roundInput(record, args) };
  };
  const fits = ask(239_000);
  expect(fits).toEqual({ reason: undefined, next: expect.any(String) });
  expect(limits.executionInput - Buffer.byteLength(fits.next ?? '')).toBeGreaterThan(20_000);
  expect(ask(400_000)).toEqual({ reason: 'InputRequestTooLarge', next: undefined });
});

test('answers of earlier rounds take room; answers of this round do not change the verdict', () => {
  const asked = { inputRequests: { a: form }, requestState: 'x'.repeat(110_000) };
  const answered = (key: string, size: number) =>
    waiting(asked, {
      round: 2,
      inputResponses: { [key]: JSON.stringify({ action: 'accept', content: { answer: 'y'.repeat(size) } }) },
    });
  expect(reasonOf(answered('r1.b', 129_000))).toBeUndefined();
  expect(reasonOf(answered('r1.b', 131_000))).toBe('InputRequestTooLarge');
  expect(reasonOf(answered('r2.a', 131_000))).toBeUndefined();
});

test.each(['', 'nope', '{"inputRequests":', 'null'])(
  'an envelope whose text is %j asks nothing that is valid',
  (text) => {
    expect(reasonOf(waiting({}, { asked: text }))).toBe('InputRequestInvalid');
  },
);
