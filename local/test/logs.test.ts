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

const logsWith = (...lines: readonly (readonly [name: string, line: string])[]) => logsFrom(0, ...lines);

/** Lines a millisecond apart. */
function logsFrom(start: number, ...lines: readonly (readonly [name: string, line: string])[]) {
  let now = start;
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
    nextToken: 'on/2',
  });
  expect(await found({ limit: 2, nextToken: 'on/2' })).toEqual(['four']);
  await expect(filter({ logGroupName: 'group', filterPattern: '{ $.a = 1 }' })).rejects.toMatchObject({
    type: 'InvalidParameterException',
  });
});

test('startFromHead: false gives the latest lines first, from 2024 on; a page has 1 MB', async () => {
  const start = Date.UTC(2024, 0);
  const filter = logsFrom(start, ...['a', 'b', 'c'].map((line) => ['named', line.repeat(450_000)] as const));
  const page = async (more: object) => {
    const { events, nextToken } = await filter({ logGroupName: 'group', ...more });
    return [events.map(([letter]) => letter).join(''), nextToken];
  };
  expect(await page({})).toEqual(['ab', 'on/2']);
  expect(await page({ startFromHead: false, startTime: start })).toEqual(['cb', 'back/2']);
  // "If you provide both nextToken and startFromHead, the direction of the nextToken is used."
  expect(await page({ startTime: start, nextToken: 'back/2' })).toEqual(['a', undefined]);
  await expect(page({ startFromHead: false, startTime: start - 1 })).rejects.toMatchObject({
    type: 'InvalidParameterException',
  });
});
