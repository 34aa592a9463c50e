import { afterEach, expect, test, vi } from 'vitest';
import { TIMED_OUT } from '../../../../functions/mcp/bounded-validation.ts';
import type { Validator } from '../../../../functions/mcp/manifest.ts';
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

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

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

/** Reads the status of the record, whose check ends so. */
function judge() {
  const reads: string[] = [];
  let stored = text;
  const get = async () => {
    reads.push(stored);
    return stored;
  };
  const { server } = fakeServer({ results: { get } });
  const tool = server.tools.get('optional');
  if (tool === undefined) throw new Error('The fake server has no such tool');
  const judged = (
    fits: boolean,
    outputSchemaId: string,
    { errors = null as typeof TIMED_OUT | null, error = false } = {},
  ) => {
    const validateOutput: Validator = () => {
      validateOutput.errors = errors;
      return fits;
    };
    // As it is after a check of another value.
    validateOutput.errors = TIMED_OUT;
    stored = error ? JSON.stringify({ content: [{ type: 'text', text }], isError: true }) : text;
    const result = JSON.stringify({ resultRef: measured(stored) });
    const tools = new Map([['optional', { ...tool, entry: { ...tool.entry, outputSchemaId }, validateOutput }]]);
    const read = { ...record, outputSchemaId, result, ...(error && { isError: true }) };
    return withResult(read, 'status', { ...server, tools });
  };
  return { reads, server, judged };
}

test('a check that took too long is made again after 30 s; an error result is not checked', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { reads, judged } = judge();
  for (let polls = 0; polls < 3; polls++) {
    expect(await judged(false, 'slow', { errors: TIMED_OUT })).toMatchObject({ isError: true });
  }
  expect(reads).toHaveLength(1);
  vi.advanceTimersByTime(30_000);
  expect((await judged(true, 'slow')).isError).not.toBe(true);
  for (let polls = 0; polls < 3; polls++)
    expect(await judged(false, 'error', { error: true })).toMatchObject({ isError: true });
  expect(reads).toHaveLength(3);
  vi.advanceTimersByTime(30_000);
  expect((await judged(true, 'slow')).isError).not.toBe(true);
  await judged(false, 'error', { error: true });
  expect(reads).toHaveLength(3);
});

test('for a status, a result is read only if there is a schema to check it, and once (A-19)', async () => {
  const { reads, server, judged } = judge();
  expect(await withResult(record, 'status', server)).toBe(record);
  expect(await withResult({ ...record, tool: 'gone' }, 'status', server)).toMatchObject({ result: record.result });
  expect(reads).toHaveLength(0);
  for (let polls = 0; polls < 2; polls++) {
    const misfit = await judged(false, 'strict');
    expect(misfit.isError).toBe(true);
    expect(misfit.result).toContain('does not fit its outputSchema');
    expect(reads).toHaveLength(1);
  }
  for (let polls = 0; polls < 2; polls++) {
    expect(await judged(true, 'loose')).toEqual({ ...record, outputSchemaId: 'loose' });
    expect(reads).toHaveLength(2);
  }
});
