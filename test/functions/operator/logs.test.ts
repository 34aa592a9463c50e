import { describe, expect, test } from 'vitest';
import type { OperatorContext } from '../../../functions/operator/context.ts';
import { logsOf } from '../../../functions/operator/logs.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { fakeClient } from '../../support/aws-client.ts';
import { denied, EXPRESS_TOOL, KEY, operatorOn, T0, task } from './operators.ts';

type Query = { logGroupName: string; startTime: number; filterPattern?: string; nextToken?: string };

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
    expect(queries[0]).toMatchObject({ startTime: T0 - 5_000, filterPattern: `"${KEY.taskId}"` });
    expect(queries[0]).not.toHaveProperty('startFromHead');
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
    const answering = reading(() => ({ events: [event(1, 'a')] }), tool, task({ engine: 'express' }));
    const { lines } = await logsOf(KEY, { payload: true }, answering.context);
    expect(lines.map(({ source }) => source)).toEqual(['endpoint', 'reconciler', 'tool', 'runs']);
    const standard = reading(undefined, tool, task());
    await logsOf(KEY, { payload: true }, standard.context);
    expect(standard.groups()).toEqual(['/endpoint', '/reconciler', '/tool']);
  });

  test('are found by the record without its payload, and in one millisecond keep their order', async () => {
    const { context } = reading(() => ({ events: [event(1, 'first'), event(1, 'second')] }));
    const get: typeof context.reads.get = (key, payload) => {
      expect(payload).toBe(false);
      return context.reads.get(key, payload);
    };
    const found = await logsOf(
      KEY,
      { part: 'endpoint', payload: false },
      { ...context, reads: { ...context.reads, get } },
    );
    expect(found.lines.map(({ line }) => line)).toEqual(['first', 'second']);
  });

  test('are searched for in all pages, also behind empty ones, for 20 s', async () => {
    let now = T0;
    const pages = (count: number, took: number) =>
      reading(({ nextToken = '0' }) => {
        now += took;
        const page = Number(nextToken) + 1;
        return page < count ? { nextToken: String(page) } : { events: [event(1, 'last')] };
      });
    const many = pages(60, 10);
    const found = await logsOf(KEY, { payload: true }, { ...many.context, now: () => now });
    expect(found).toMatchObject({ lines: [{ line: 'last' }, { line: 'last' }, { line: 'last' }], hidden: [] });
    const slow = pages(60, 5_000);
    const { lines, hidden } = await logsOf(KEY, { payload: false }, { ...slow.context, now: () => now });
    expect(lines).toEqual([]);
    expect(hidden).toContain('later lines of endpoint: a search ends after 10,000 lines or 20 s');
    const one = pages(60, 5_000);
    await logsOf(KEY, { part: 'endpoint', payload: false }, { ...one.context, now: () => now });
    expect(one.queries).toHaveLength(4);
  });

  test('that AWS throttles meanwhile are asked for again, and those found before stay', async () => {
    const throttled = Object.assign(new Error('Rate exceeded'), { name: 'ThrottlingException' });
    let [now, refused] = [T0, 0];
    const { context } = reading(({ nextToken }) => {
      if (nextToken === undefined) return { events: [event(1, 'a')], nextToken: 'second' };
      if (refused++ % 2 === 0 || refused > 50) throw throttled;
      return { events: [event(2, 'b')], ...(refused > 10 && { nextToken }) };
    });
    const sleep = async (ms: number) => {
      now += ms;
    };
    const search = async () =>
      logsOf(undefined, { part: 'endpoint', payload: false }, { ...context, now: () => now, sleep });
    expect(await search()).toMatchObject({ lines: [{ line: 'a' }, { line: 'b' }], hidden: [] });
    refused = 51;
    expect(await search()).toMatchObject({
      lines: [{ line: 'a' }],
      hidden: ['earlier lines of endpoint: a search ends after 10,000 lines or 20 s'],
    });
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

describe('the lines of one part of the server', () => {
  const FROM = Date.UTC(2026, 0);
  test('are read from a time on, without a pattern', async () => {
    const { context, queries } = reading();
    const found = await logsOf(undefined, { part: 'reconciler', from: FROM, payload: false }, context);
    expect(found).toEqual({ lines: [], hidden: [] });
    expect(queries).toMatchObject([{ logGroupName: '/reconciler', startTime: FROM, startFromHead: false }]);
    expect(queries[0]).not.toHaveProperty('filterPattern');
  });

  test('are the latest 10,000, the oldest of them first, and it is said that there are more', async () => {
    const line = (page: number) =>
      Array.from({ length: 4_000 }, (_, i) => event(FROM - 4_000 * page - i, `${page}/${i}`));
    const { context, queries } = reading(({ nextToken = '0' }) => ({
      events: line(Number(nextToken)),
      nextToken: String(Number(nextToken) + 1),
    }));
    const { lines, hidden } = await logsOf(undefined, { part: 'endpoint', from: FROM, payload: false }, context);
    expect(queries).toHaveLength(3);
    expect([lines[0]?.line, lines.at(-1)?.line]).toEqual(['2/3999', '0/0']);
    expect(hidden).toEqual(['earlier lines of endpoint: a search ends after 10,000 lines or 20 s']);
  });

  test('are not asked for again after 10,000 lines', async () => {
    const events = Array.from({ length: 5_000 }, (_, i) => event(FROM + i, 'a'));
    const { context, queries } = reading(() => ({ events, nextToken: 'more' }));
    await logsOf(undefined, { part: 'endpoint', from: FROM, payload: false }, context);
    expect(queries).toHaveLength(2);
  });

  test('of one millisecond keep their order', async () => {
    const { context } = reading(() => ({ events: [event(FROM, 'second'), event(FROM, 'first')] }));
    const { lines } = await logsOf(undefined, { part: 'endpoint', from: FROM, payload: false }, context);
    expect(lines.map(({ line }) => line)).toEqual(['first', 'second']);
  });

  test('are asked for from 2024 on: AWS reads older ones in the other direction only', async () => {
    const { context, queries } = reading();
    await logsOf(undefined, { part: 'endpoint', from: 7, payload: false }, context);
    expect(queries).toMatchObject([{ startTime: Date.UTC(2024, 0) }]);
  });
});
