import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { handler } from '../../../functions/examples/profile-dataset.ts';
import type { InputResponse, ToolResult } from '../../../functions/tool/index.ts';
import { memoryJournal } from '../../../functions/tool/journal/port.ts';
import { runTool } from '../../../functions/tool/testing.ts';

const valid = new Ajv2020({ strict: true }).compile(handler.definition.outputSchema ?? {});
const accept = (content: Record<string, unknown>): InputResponse => ({ action: 'accept', content });
const { runWith } = handler;

interface Profile {
  readonly rows: number;
  readonly columns: readonly object[];
  readonly outliers: number;
}

function parts(result: unknown) {
  const { content, structuredContent } = result as ToolResult<Profile>;
  expect(valid(structuredContent), JSON.stringify(valid.errors)).toBe(true);
  return { lines: content?.[0]?.type === 'text' ? String(content[0].text).split('\n') : [], found: structuredContent };
}

test('asks for the columns, profiles each in a step, asks again, and appends the rows', async () => {
  const answers = { columns: accept({ columns: ['country', 'total'] }), appendix: accept({ append: true }) };
  const { result, rounds, asked, progress } = await runTool(handler, {}, { answers });
  expect([rounds, Object.keys(asked)]).toEqual([3, ['columns', 'appendix']]);
  expect(asked.columns?.params).toMatchObject({
    requestedSchema: { properties: { columns: { items: { enum: ['total', 'country', 'rating'] } } } },
  });
  const { lines, found } = parts(result);
  expect(found).toMatchObject({
    rows: 1_000,
    columns: [
      { name: 'country', missing: 0, distinct: 5, most: expect.stringMatching(/^[A-Z]{2}$/) },
      { name: 'total', min: 10, max: expect.any(Number) },
    ],
  });
  expect(found?.outliers).toBeGreaterThan(5);
  expect(lines).toHaveLength(3 + (found?.outliers ?? 0));
  // Both columns in round 2. Round 3 begins to report where that ended.
  const messages = ['Profiling country (1/2)', 'Profiling total (2/2)', 'Profiling total (2/2)'];
  expect(progress.map(({ message }) => message)).toEqual(messages);
});

test('a run after a crash takes finished columns from their steps', async () => {
  const journal = memoryJournal();
  const written: string[] = [];
  const reports: string[] = [];
  const host = {
    async progress(_task: unknown, message: string) {
      reports.push(message);
      if (reports.length === 3) throw new Error('crash');
      return true;
    },
    alive: async () => true,
    journal: {
      ...journal,
      write: (...given: Parameters<typeof journal.write>) => {
        written.push(given[1].name);
        return journal.write(...given);
      },
    },
    keep: async (_task: unknown, result: unknown) => result,
  };
  const task = { taskId: 't', owner: 'o', table: 't', results: 'r', round: 1, deadline: 0 };
  const event = (attempt: number) => ({
    name: 'profile_dataset',
    arguments: {},
    accepts: [],
    inputResponses: {},
    requestState: null,
    task: { ...task, attempt },
  });
  await expect(runWith(event(0), host)).rejects.toThrow('crash');
  const { found } = parts(await runWith(event(1), host));
  // Each of the three columns once.
  expect(written).toEqual(['column 0', 'column 1', 'column 2']);
  expect(found?.columns).toHaveLength(3);
});

test('profiles numbers, text, missing values and outliers of a small CSV', async () => {
  const csv = 'n,t\n1,b\n2,"a, c"\n3,b\n,\n4,b\n100,b\n';
  const { result, asked } = await runTool(handler, { csv }, { accepts: [] });
  expect(asked).toEqual({});
  expect(parts(result).found).toEqual({
    rows: 6,
    columns: [
      { name: 'n', missing: 1, distinct: 5, min: 1, median: 3, max: 100 },
      { name: 't', missing: 1, distinct: 2, most: 'b' },
    ],
    outliers: 1,
  });
});

test('appends nothing unless the answer says so', async () => {
  for (const appendix of [accept({ append: false }), { action: 'decline' } as const]) {
    const { result } = await runTool(handler, { columns: ['total'] }, { answers: { appendix } });
    expect(parts(result).lines).toHaveLength(2);
  }
});

test('stops at the first report once the task is over', async () => {
  const { result, progress } = await runTool(handler, {}, { accepts: [], cancelInRound: 1 });
  expect(result).toMatchObject({ isError: true });
  expect(progress.length).toBeLessThanOrEqual(1);
});

test.each([
  [{ csv: 'a,b\n1\n' }, {}, /malformed/],
  [{ csv: 'a\n1\n', columns: ['b'] }, {}, /No such column: b/],
  [{}, { columns: { action: 'decline' } as const }, /no columns were chosen/],
])('%o with the answer %o is a result that says what to do', async (args, answers, message) => {
  expect((await runTool(handler, args, { answers })).result).toEqual({
    isError: true,
    content: [{ type: 'text', text: expect.stringMatching(message) }],
  });
});
