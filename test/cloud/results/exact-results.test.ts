import { describe, expect, test } from 'vitest';
import { legacySession, modernRequest, runTask } from '../../support/clients.ts';
import { useCloud } from '../../support/cloud.ts';

const cloud = useCloud();
const url = () => `${cloud().url}/mcp`;
const awkward = {
  id: 9007199254740991,
  small: 5e-324,
  text: '12345678901234567890',
  emoji: '🙂👩‍👩‍👧',
  separators: '\u2028\u2029',
  lone: '\ud800 and \udfff',
  controls: '\u0000\u001f"\\',
  expression: '{% $states.input %}',
  '\ud83d': { __proto__x: [[], {}, null] },
};

describe('a defined tool gives the very same JSON back', () => {
  const json = JSON.stringify(awkward);

  test('2026-07-28 (A-17, E-10)', async () => {
    const { result } = await runTask(url(), 'returns_exactly', { json });
    expect(result.structuredContent).toEqual(awkward);
    expect(JSON.parse(result.content[0].text)).toEqual(awkward);
  });

  test('2025-11-25 (A-17, C-16)', async () => {
    const client = await legacySession(url());
    const made = await client.request('tools/call', { name: 'returns_exactly', arguments: { json }, task: {} });
    const { result } = (await client.request('tasks/result', { taskId: made.body.result.task.taskId })).body;
    expect(result.structuredContent).toEqual(awkward);
  });

  test('in a call without a task', async () => {
    const called = { name: 'returns_exactly', arguments: { json } };
    const { body } = await modernRequest(url(), 'tools/call', called, { capabilities: {} });
    expect(body.result.structuredContent).toEqual(awkward);
  });
});

test('a plain function keeps 15 significant digits of a number, and every character of a text', async () => {
  const { result } = await runTask(url(), 'returns', { json: JSON.stringify(awkward) });
  expect(result.structuredContent).toEqual({ ...awkward, id: 9007199254740990 });
});
