import { expect, test } from 'vitest';
import { handler } from '../../../functions/examples/greet.ts';
import { runTool } from '../../../functions/tool/testing.ts';

test('greets by name', async () => {
  expect((await runTool(handler, { name: 'Ada' }, { direct: true })).result).toBe('Hello, Ada!');
});
