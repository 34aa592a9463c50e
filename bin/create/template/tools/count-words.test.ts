import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runTool } from 'mcp-task-server/testing';
import { handler } from './count-words.ts';

test('counts the words of a text', async () => {
  const { result, progress } = await runTool(handler, { text: 'One fish, two fish' });
  assert.deepEqual(result, { total: 4, counts: { one: 1, fish: 2, two: 1 } });
  assert.deepEqual(
    progress.map(({ message }) => message),
    ['Counting 4 words'],
  );
});
