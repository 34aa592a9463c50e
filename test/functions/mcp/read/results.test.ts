import { afterEach, expect, test, vi } from 'vitest';
import { TIMED_OUT } from '../../../../functions/mcp/bounded-validation.ts';
import { withResult } from '../../../../functions/mcp/read/results.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { measured } from '../../../../functions/tasks/results/result-ref.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { fakeServer } from '../support/fake-server.ts';

/** A result that a record cannot hold. */
const text = JSON.stringify('x'.repeat(limits.result.inline - 1));
const task = { tool: 'optional', ttl: 60_000, timeout: 60_000, accepts: [], legacy: false };
const record = {
  ...create({ owner: 'o', taskId: 't' }, task, 1_700_000_000_000),
  status: 'completed' as const,
  result: JSON.stringify({ resultRef: measured(text) }),
};
const shown = (stored: string) =>
  withResult(record, 'shown', fakeServer({ results: { get: async () => stored } }).server);

test('a stored result is shown only if it is the text that the record names (C-28)', async () => {
  vi.spyOn(console, 'error').mockReturnValue(undefined);
  expect((await shown(text)).result).toBe(text);
  for (const other of [text.replace('x', ''), text.replace('x', 'y')]) {
    await expect(shown(other)).rejects.toThrow('cannot be read at the moment');
  }
  vi.restoreAllMocks();
});

afterEach(() => void vi.restoreAllMocks());

test.each<[Partial<TaskRecord>, object | undefined]>([
  [{ result: '1' }, { status: 'completed' }],
  [
    { result: '1', isError: true },
    { status: 'completed', isError: true },
  ],
  [{ result: '1', isError: false }, { status: 'completed' }],
  [{ result: undefined as never }, { status: 'completed' }],
  [{ status: 'failed' }, { status: 'failed' }],
  [{ status: 'cancelled' }, undefined],
  [{ status: 'working' }, undefined],
])('a result that is shown is logged, and nothing else: %j', async (more, facts) => {
  const { server, audited } = fakeServer();
  expect(await withResult({ ...record, ...more }, 'shown', server)).toEqual({ ...record, ...more });
  const line = { event: 'audit', action: 'retrieved', owner: 'o', taskId: 't', tool: 'optional', ...facts };
  expect(audited.map((text) => JSON.parse(text))).toEqual(facts === undefined ? [] : [line]);
});

test('the result comes from the try which the record names (C-28)', async () => {
  const asked: unknown[] = [];
  const get = async (key: unknown) => {
    asked.push(key);
    return text;
  };
  const { server } = fakeServer({ results: { get } });
  await withResult(
    { ...record, result: JSON.stringify({ resultRef: { ...measured(text), attempt: 2 } }) },
    'shown',
    server,
  );
  await withResult(record, 'shown', server);
  expect(asked).toMatchObject([{ owner: 'o', taskId: 't', round: 1, attempt: 2 }, { attempt: 0 }]);
});

test('a result that cannot be read says so, and the log says why by a name (A-15)', async () => {
  const said = vi.spyOn(console, 'error').mockReturnValue(undefined);
  await expect(shown('other')).rejects.toMatchObject({
    ...{ code: -32603, data: { reason: 'ResultUnavailable', taskId: 't' } },
    message: 'The result of task t cannot be read at the moment: ask for it again, the task itself is complete',
  });
  expect(said.mock.calls.map(([line]) => JSON.parse(line))).toMatchObject([
    { event: 'result_unavailable', tool: 'optional', error: 'ResultAltered' },
  ]);
});

test('for a status, a result is read only if there is a schema to check it, and once (A-19)', async () => {
  let reads = 0;
  const get = async () => {
    reads++;
    return text;
  };
  const { server } = fakeServer({ results: { get } });
  expect(await withResult(record, 'status', server)).toBe(record);
  expect(await withResult({ ...record, tool: 'gone' }, 'status', server)).toMatchObject({ result: record.result });
  const tool = server.tools.get('optional');
  if (tool === undefined) throw new Error('The fake server has no such tool');
  const judged = (fits: boolean, outputSchemaId: string, errors: typeof TIMED_OUT | null = null) => {
    const entry = { ...tool.entry, outputSchemaId };
    const validateOutput = Object.assign(() => fits, { errors });
    const tools = new Map([['optional', { ...tool, entry, validateOutput }]]);
    return withResult({ ...record, outputSchemaId }, 'status', { ...server, tools });
  };
  expect(reads).toBe(0);
  for (let polls = 0; polls < 2; polls++) {
    const misfit = await judged(false, 'strict');
    expect(misfit.isError).toBe(true);
    expect(misfit.result).toContain('does not fit its outputSchema');
    expect(reads).toBe(1);
  }
  for (let polls = 0; polls < 2; polls++) {
    expect(await judged(true, 'loose')).toEqual({ ...record, outputSchemaId: 'loose' });
    expect(reads).toBe(2);
  }
  // A check that took too long is made again.
  expect(await judged(false, 'slow', TIMED_OUT)).toMatchObject({ isError: true });
  expect(await judged(true, 'slow')).toEqual({ ...record, outputSchemaId: 'slow' });
  expect(reads).toBe(4);
});
