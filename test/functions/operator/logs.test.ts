import { describe, expect, test } from 'vitest';
import type { OperatorContext } from '../../../functions/operator/context.ts';
import { logsOf } from '../../../functions/operator/logs.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { fakeClient } from '../../support/aws-client.ts';
import { denied, EXPRESS_TOOL, KEY, operatorOn, T0, task } from './operators.ts';

type Query = { logGroupName: string; startTime: number; filterPattern?: string; limit: number; nextToken?: string };

/** `answer`: what CloudWatch Logs answers. */
function reading(
  answer: (query: Query) => object = () => ({}),
  tool: Parameters<typeof operatorOn>[1] = { logGroup: '/tool' },
  record: TaskRecord = task(),
) {
  const queries: Query[] = [];
  const logs = fakeClient<OperatorContext['logs']>(async (_operation, input) => {
    queries.push(input as Query);
    return answer(input as Query);
  });
  const { context } = operatorOn([record], tool, { logs });
  const server = { ...context.server, logGroups: { endpoint: '/endpoint', reconciler: '/reconciler' } };
  return { queries, context: { ...context, server }, groups: () => queries.map(({ logGroupName }) => logGroupName) };
}
const event = (timestamp: number, message: string) => ({ timestamp, message });

describe('the log lines of a task', () => {
  test('are those that name it, from 5 s before it on, the oldest first, without metrics', async () => {
    const { context, queries } = reading(({ logGroupName }) => ({
      events:
        logGroupName === '/endpoint' ? [event(3, 'c\n'), event(2, '{"_aws":{}}')] : [event(1, 'a'), event(2, 'b'), {}],
    }));
    const { lines, hidden } = await logsOf(KEY, { payload: false }, context);
    expect(lines).toEqual([
      { at: 0, source: 'reconciler', line: '' },
      { at: 1, source: 'reconciler', line: 'a' },
      { at: 2, source: 'reconciler', line: 'b' },
      { at: 3, source: 'endpoint', line: 'c' },
    ]);
    expect(hidden).toEqual(['the lines of its tool: --payload shows them']);
    expect(queries[0]).toMatchObject({ startTime: T0 - 5_000, filterPattern: `"${KEY.taskId}"`, limit: 1_000 });
  });

  test('include the lines of its tool, with the right to payloads', async () => {
    const { context, groups } = reading();
    expect((await logsOf(KEY, { payload: true }, context)).hidden).toEqual([]);
    expect(groups()).toEqual(['/endpoint', '/reconciler', '/tool']);
  });

  test('lack the lines of a tool whose log group is not known, whatever the rights', async () => {
    for (const tool of [{}, null]) {
      const { context, groups } = reading(undefined, tool);
      const { hidden } = await logsOf(KEY, { payload: true }, context);
      expect(hidden).toEqual(['the lines of its tool: its log group is not known']);
      expect(groups()).toEqual(['/endpoint', '/reconciler']);
    }
  });

  test('include the lines of its runs on Express, if it runs there', async () => {
    const runs = '/aws/vendedlogs/states/S-express';
    const tool = { ...EXPRESS_TOOL, logGroup: '/tool' };
    const express = reading(undefined, tool, task({ engine: 'express' }));
    expect((await logsOf(KEY, { payload: false }, express.context)).hidden).toContain(
      `the lines of its runs (log group ${runs}): --payload shows them`,
    );
    expect(express.groups()).not.toContain(runs);
    await logsOf(KEY, { payload: true }, express.context);
    expect(express.groups()).toContain(runs);
    const standard = reading(undefined, tool, task());
    await logsOf(KEY, { payload: true }, standard.context);
    expect(standard.groups()).toEqual(['/endpoint', '/reconciler', '/tool']);
  });

  test('are read in pages, at most ten of each group', async () => {
    const { context, queries } = reading(({ nextToken = '0' }) => ({
      events: [event(Number(nextToken), nextToken)],
      nextToken: String(Number(nextToken) + 1),
    }));
    const { lines } = await logsOf(undefined, { part: 'endpoint', payload: false }, context);
    expect(lines.map(({ line }) => line)).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
    expect(queries.map(({ nextToken }) => nextToken)).toEqual([undefined, '1', '2', '3', '4', '5', '6', '7', '8', '9']);
    const short = reading(({ nextToken }) => (nextToken === undefined ? { nextToken: 'last' } : {}));
    await logsOf(undefined, { part: 'endpoint', payload: false }, short.context);
    expect(short.queries).toHaveLength(2);
  });

  test('without the right to a group name it, and any other failure is thrown', async () => {
    const failing = (error: Error) =>
      reading(({ logGroupName }) => {
        if (logGroupName === '/endpoint') throw error;
        return { events: [event(1, 'a')] };
      });
    const { lines, hidden } = await logsOf(KEY, { payload: true }, failing(denied()).context);
    expect(lines.map(({ source }) => source)).toEqual(['reconciler', 'tool']);
    expect(hidden).toEqual(['the lines of endpoint: your credentials may not read them']);
    await expect(logsOf(KEY, { payload: true }, failing(new TypeError('down')).context)).rejects.toThrow('down');
  });
});

test('all lines of one part of the server are read from a time on', async () => {
  const { context, queries } = reading();
  const found = await logsOf(undefined, { part: 'reconciler', from: 7, payload: false }, context);
  expect(found).toEqual({ lines: [], hidden: [] });
  expect(queries).toMatchObject([{ logGroupName: '/reconciler', startTime: 7 }]);
  expect(queries[0]).not.toHaveProperty('filterPattern');
});
