import { expect, test } from 'vitest';
import { handler } from '../../../functions/examples/greet.ts';

test('greets by name', async () => {
  const result = await handler({
    name: 'greet',
    arguments: { name: 'Ada' },
    accepts: [],
    inputResponses: {},
    requestState: null,
  });
  expect(result).toEqual({ content: [{ type: 'text', text: 'Hello, Ada!' }] });
});
