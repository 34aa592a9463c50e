import { expect, test } from 'vitest';
import { summaryOf } from '../../../functions/events/summary.ts';
import { fileLink, newFileId } from '../../../functions/tasks/files/file.ts';
import { limits } from '../../../functions/tasks/limits.ts';
import { referTo } from '../../../functions/tasks/results/result-ref.ts';
import { mapSize } from '../../../local/testing.ts';
import { eventsInMemory, finished, START } from './support.ts';

const MOST = limits.mcpEvents.summary;
const completed = (value: unknown) => ({ status: 'completed', result: JSON.stringify(value) }) as const;
const content = (...texts: readonly string[]) => texts.map((text) => ({ type: 'text', text }));
const asked = (...inputRequests: readonly object[]) =>
  ({ status: 'input_required', asked: JSON.stringify({ inputRequests: { ...inputRequests } }) }) as const;
const link = fileLink({
  id: newFileId(),
  name: 'orders-2026.csv',
  type: 'text/csv',
  bytes: 1,
  sha256: 'ab'.repeat(32),
});
const large = JSON.stringify({ content: content('x'.repeat(5_000)) });

test.each<[string, Parameters<typeof summaryOf>[0], string | undefined]>([
  ['the first text of a result', completed({ content: content('Done.', 'More') }), 'Done.'],
  ['a string', completed('Done.'), 'Done.'],
  ['any other JSON', completed({ words: 3 }), '{"words":3}'],
  ['structured content alone', completed({ structuredContent: { words: 3 } }), '{"words":3}'],
  ['one line', completed(' a\n\n b\t\u0000c\u001b[31m '), 'a b c [31m'],
  ['the name of a file', completed(`See ${link.uri} today`), 'See orders-2026.csv today'],
  ['no text', completed({ content: [{ type: 'image', data: '', mimeType: 'image/png' }] }), undefined],
  ['an empty text', completed('\n'), undefined],
  ['nothing', completed(null), undefined],
  ['a result in S3', { status: 'completed', result: JSON.stringify(referTo(large, false, {})) }, undefined],
  ['why it failed', { status: 'failed', error: '{"code":-32603,"message":"The tool failed"}' }, 'The tool failed'],
  ['a cancelled task', { status: 'cancelled', result: '"x"' }, undefined],
  ['a working task', { status: 'working', asked: '{}' }, undefined],
  ['the first question', asked({ method: 'roots/list' }, { params: { message: 'Really?' } }), 'Really?'],
  ['a question without a text', asked({ method: 'roots/list' }), undefined],
  ['questions in S3', { status: 'input_required' }, undefined],
])('the summary of %s (H-20)', (_what, record, summary) => {
  expect(summaryOf(record)).toBe(summary);
});

test('an error that lies in S3 has the beginning that its reference keeps (H-20)', () => {
  const text = JSON.stringify({ content: content(`No paper.${' x'.repeat(2_000)}`), isError: true });
  const result = JSON.stringify(referTo(text, true, {}));
  expect(summaryOf({ status: 'completed', result })).toMatch(/^No paper\. x x/);
});

test.each(['x', 'é', '語', '😀'])('a long text of %s is cut between two characters (H-20)', (character) => {
  const summary = summaryOf(completed(character.repeat(400))) ?? '';
  expect(summary).toMatch(new RegExp(`^(${character})+…$`, 'u'));
  expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(MOST);
  expect(Buffer.byteLength(summary)).toBeGreaterThan(MOST - 8);
});

test('half a character is replaced, as a table cannot hold it (H-20)', () => {
  expect(summaryOf(completed('a\ud83d'))).toBe('a\ufffd');
});

test('the head of a full log, with a summary and long names, takes one write unit', async () => {
  const { writer, table } = eventsInMemory();
  const owner = `owner#${'a'.repeat(26)}`;
  await writer().begin(owner);
  const facts = {
    ...{ taskId: 't'.repeat(36), tool: 't'.repeat(64), scopes: ['reports:write'] },
    ...{ status: 'failed', reason: 'Lambda.TooManyRequestsException' },
  };
  const summary = '語'.repeat(400);
  const said = summaryOf(completed(summary)) ?? '';
  for (let n = 0; n <= limits.mcpEvents.recent; n++) {
    await writer().append(owner, { at: START, event: finished(n, facts), summary: said });
  }
  const sizes = [...table.items()].map((item) => [item.taskId?.S, mapSize(item)] as const);
  const head = sizes.find(([taskId]) => taskId === '#head')?.[1] ?? 0;
  expect(head).toBeGreaterThan(800);
  expect(head).toBeLessThanOrEqual(1_024);
  expect(Math.max(...sizes.map(([, size]) => size))).toBe(head);
});
