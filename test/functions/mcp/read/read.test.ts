import { describe, expect, test, vi } from 'vitest';
import type { ServerContext, Tool } from '../../../../functions/mcp/context.ts';
import { countLarge, currentRecord, readTask } from '../../../../functions/mcp/read/read.ts';
import { checkedResult, withCheckedResult } from '../../../../functions/mcp/read/results.ts';
import { newTaskKey, type Principal } from '../../../../functions/tasks/ids.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { measured } from '../../../../functions/tasks/results/result-ref.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { fakeServer } from '../support/fake-server.ts';

/** A server with one tool, whose outputSchema wants `n`. */
function deployed(outputSchemaId: string | undefined): ServerContext {
  const { server } = fakeServer();
  const { entry, validate } = server.tools.get('optional') as Tool;
  const tool: Tool = {
    entry: { ...entry, ...(outputSchemaId !== undefined && { outputSchemaId }) },
    validate,
    validateOutput: (value: unknown) => typeof value === 'object' && value !== null && 'n' in value,
  };
  return { ...server, tools: new Map([['optional', tool]]) };
}

const task = { tool: 'optional', ttl: 60_000, timeout: 60_000, accepts: [], legacy: false };
const done = (outputSchemaId: string) => ({
  ...create({ owner: 'o', taskId: 't' }, { ...task, outputSchemaId }, 1_700_000_000_000),
  status: 'completed' as const,
  result: '{"structuredContent":{"m":1}}',
});

test('a result has to fit the outputSchema that its tool had when the task was made (A-19)', () => {
  expect(currentRecord(done('v1'), 0, deployed('v1'))).toMatchObject({ isError: true });
});

test('where a result does not fit is logged once, by path and rule, without a value (A-15)', () => {
  const warned = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const paths = ['/secret', '', '/3', '/4', '/5', '/6'];
  const errors = paths.map((instancePath) => ({ instancePath, message: 'must be number' }));
  const server = deployed('v1');
  const tool = server.tools.get('optional') as Tool;
  Object.assign(tool.validateOutput as object, { errors });
  for (let read = 0; read < 2; read++) currentRecord(done('v1'), 0, server);
  const other = { ...tool, entry: { ...tool.entry, name: 'other' }, validateOutput: () => false };
  checkedResult({ content: [] }, other);
  const lines = warned.mock.calls.map(([line]) => JSON.parse(String(line)));
  warned.mockRestore();
  const problems = ['/secret', '/', '/3', '/4', '/5'].map((path) => `${path} must be number`);
  expect(lines).toEqual([
    { event: 'result_misfit', tool: 'optional', problems },
    { event: 'result_misfit', tool: 'other', problems: [] },
  ]);
});

test('names in results, which a client may choose, make few lines of log, and short ones', () => {
  const warned = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const tool = deployed('v1').tools.get('optional') as Tool;
  const named = { ...tool, entry: { ...tool.entry, name: 'named' } };
  for (let read = 0; read < 20; read++) {
    const errors = [{ instancePath: `/${read}${'\u0001'.repeat(1_000_000)}`, message: 'must be number' }];
    checkedResult({ content: [] }, { ...named, validateOutput: Object.assign(() => false, { errors }) });
  }
  const lines = warned.mock.calls.map(([line]) => String(line));
  warned.mockRestore();
  expect(lines).toHaveLength(10);
  for (const line of lines) expect(line.length).toBeLessThan(500);
});

test('a deployment with another outputSchema changes no finished task for readers (C-10)', () => {
  expect(currentRecord(done('v1'), 0, deployed('v2'))).toEqual(done('v1'));
  expect(currentRecord(done('v1'), 0, deployed(undefined))).toEqual(done('v1'));
});

test.each([
  ['{"n":1}', true, 'completed', false],
  ['{"content":[],"isError":true}', false, 'completed', true],
  ['{"x": NaN}', false, 'completed', true],
  ['', true, 'completed', true],
])('the text %j of an envelope that said isError %s decides', (result, said, status, isError) => {
  const { outputSchemaId: _, ...made } = done('v1');
  const shown = currentRecord({ ...made, result, isError: said }, 0, deployed(undefined));
  expect(shown).toMatchObject({ status, isError });
});

describe('a result', () => {
  test('that is an error is left as it is, byte for byte, whatever the outputSchema (A-19)', () => {
    const record = { ...done('v1'), isError: true, result: '{"content": [], "isError": true, "n": 1.0}' };
    expect(currentRecord(record, 0, deployed('v1'))).toBe(record);
    const result = { content: [], isError: true };
    expect(checkedResult(result, deployed('v1').tools.get('optional'))).toBe(result);
  });

  test.each<[string, Partial<TaskRecord>]>([
    ['of a task that is not completed', { status: 'working' }],
    ['that is missing', { result: undefined as unknown as string }],
  ])('%s is not checked', (_name, over) => {
    const record = { ...done('v1'), ...over };
    expect(withCheckedResult(record, deployed('v1'))).toBe(record);
  });

  test('in S3 is not checked here', () => {
    const resultRef = measured('x'.repeat(limits.result.inline + 1));
    const stored = { ...done('v1'), result: JSON.stringify({ resultRef }) };
    expect(currentRecord(stored, 0, deployed('v1'))).toBe(stored);
  });
});

describe('a task that is read', () => {
  const anonymous = { kind: 'anonymous' } as const;
  const working = create(newTaskKey(anonymous, 1_700_000_000_000), task, 1_700_000_000_000);
  const read = async (record: TaskRecord) => {
    const fake = fakeServer();
    fake.records.set(record);
    return { ...fake, found: await readTask(anonymous, record.taskId, fake.server) };
  };

  test('with questions that its client cannot be asked has failed, and is stored so', async () => {
    const { found, records, did } = await read({ ...working, status: 'input_required', asked: '{}' });
    expect(found.status).toBe('failed');
    expect(records.get(working.taskId)).toMatchObject({ status: 'failed', error: found.error });
    expect(did).toEqual(['get', 'applyBlind']);
  });

  test('past its deadline is only shown as failed: the sweep writes it', async () => {
    const { found, did } = await read({ ...working, deadlineAt: 0 });
    expect([found.status, did]).toEqual(['failed', ['get']]);
  });

  test.each([
    ['verified', limits.result.large, 0],
    ['verified', limits.result.large + 1, 1],
    // Callers who cannot be distinguished would take it from each other.
    ['anonymous', limits.result.large + 1, 0],
  ] as const)(
    'of a caller who is %s, with a result of %i bytes counts as a list %i times (E-29)',
    async (kind, bytes, n) => {
      const { server } = fakeServer();
      const counted = vi.spyOn(server.pollLimit, 'countList');
      const result = JSON.stringify({ resultRef: { ...measured('x'), bytes } });
      await countLarge({ kind, key: 'ann' } as Principal, { ...working, status: 'completed', result }, server);
      await countLarge({ kind, key: 'ann' } as Principal, { ...working, result }, server);
      expect(counted).toHaveBeenCalledTimes(n);
      await countLarge({ kind, key: 'ann' } as Principal, { bytes }, server);
      expect(counted).toHaveBeenCalledTimes(2 * n);
    },
  );

  test('needs tasks: a 2026-07-28 client without them learns so (F-04)', async () => {
    const { server } = await read(working);
    const older = readTask(anonymous, working.taskId, server, { olderOnly: true });
    await expect(older).rejects.toThrow('This task is for clients that know tasks');
  });
});
