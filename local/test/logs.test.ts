import { expect, test } from 'vitest';
import { createLogs } from '../logs/index.ts';
import type { ResolvedStack } from '../template/resources.ts';

const resource = (type: string, name: string, properties: object = {}) => ({ type, name, properties });
const stacks = [
  {
    resources: [
      resource('AWS::Lambda::Function', 'named', { LoggingConfig: { LogGroup: 'group' } }),
      resource('AWS::Lambda::Function', 'plain'),
      resource('AWS::Logs::LogGroup', 'empty'),
    ],
  },
] as unknown as ResolvedStack[];

function logsWith(...lines: readonly [name: string, line: string][]) {
  let now = 0;
  const logs = createLogs(stacks, () => ++now);
  for (const [name, line] of lines) logs.keep(name, line);
  return async (input: object) => {
    const found = (await logs.operations.FilterLogEvents?.({ ...input })) as {
      events: { message: string }[];
      nextToken?: string;
    };
    return { ...found, events: found.events.map(({ message }) => message) };
  };
}

test("a line is in its function's log group, explicit or by the function's name", async () => {
  const filter = logsWith(['named', 'a'], ['plain', 'b'], ['unknown', 'c']);
  expect((await filter({ logGroupName: 'group' })).events).toEqual(['a']);
  expect((await filter({ logGroupName: '/aws/lambda/plain' })).events).toEqual(['b']);
  expect((await filter({ logGroupName: 'empty' })).events).toEqual([]);
  await expect(filter({ logGroupName: 'none' })).rejects.toMatchObject({ type: 'ResourceNotFoundException' });
});

test('a pattern finds lines with all its terms, or one after ?, in a time, by pages', async () => {
  const filter = logsWith(['named', 'one two'], ['named', 'two "three"'], ['named', 'four']);
  const found = async (more: object) => (await filter({ logGroupName: 'group', ...more })).events;
  expect(await found({ filterPattern: '"one two"' })).toEqual(['one two']);
  expect(await found({ filterPattern: 'two three' })).toEqual(['two "three"']);
  expect(await found({ filterPattern: '?one ?four' })).toEqual(['one two', 'four']);
  expect(await found({ startTime: 2, endTime: 2 })).toEqual(['two "three"']);
  expect(await filter({ logGroupName: 'group', limit: 2 })).toEqual({
    events: ['one two', 'two "three"'],
    nextToken: '2',
  });
  expect(await found({ limit: 2, nextToken: '2' })).toEqual(['four']);
  await expect(filter({ logGroupName: 'group', filterPattern: '{ $.a = 1 }' })).rejects.toMatchObject({
    type: 'InvalidParameterException',
  });
});
