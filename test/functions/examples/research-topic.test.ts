import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test, vi } from 'vitest';
import { type ResearchResult, researchTopic } from '../../../functions/examples/research/definition.ts';
import { study } from '../../../functions/examples/research/study.ts';
import { handler } from '../../../functions/examples/research-topic.ts';
import type { InputRequest, InputResponse, ToolResult } from '../../../functions/tool/index.ts';
import { runTool } from '../../../functions/tool/testing.ts';

// Files share a process: another one may have loaded what is replaced here.
vi.hoisted(() => vi.resetModules());

// The bundler embeds this file; here it is read.
vi.mock('../../../functions/examples/research/journal.ts', async () => {
  const { readFileSync } = await import('node:fs');
  const { gunzipSync } = await import('node:zlib');
  const packed = readFileSync(new URL('../../../functions/examples/samples/journal.txt.gz', import.meta.url));
  return { journal: () => gunzipSync(packed).toString() };
});
vi.mock('../../../functions/examples/research/study.ts', async (original) => {
  const real = await original<typeof import('../../../functions/examples/research/study.ts')>();
  return { ...real, study: vi.fn(real.study) };
});

const valid = new Ajv2020({ strict: true }).compile(researchTopic.outputSchema);
const accept = (content: object): InputResponse => ({ action: 'accept', content });

interface Form {
  readonly message: string;
  readonly requestedSchema: {
    readonly properties: { readonly aspects: { readonly items: { readonly enum: string[] } } };
  };
}
const form = ({ params }: InputRequest) => params as unknown as Form;
/** Asks for the first of the aspects, as many as are wanted. */
const scope =
  (count: number, audience?: string) =>
  (question: InputRequest): InputResponse =>
    accept({ aspects: form(question).requestedSchema.properties.aspects.items.enum.slice(0, count), audience });
const everything = scope(Number.POSITIVE_INFINITY);

function parts(result: unknown) {
  const { content, structuredContent } = result as ToolResult<ResearchResult>;
  if (structuredContent === undefined) throw new Error(`There is no structured content: ${JSON.stringify(content)}`);
  expect(valid(structuredContent), JSON.stringify(valid.errors)).toBe(true);
  const [report, appendix] = content as readonly { text?: string; resource?: { mimeType: string; text: string } }[];
  return { report: report?.text ?? '', appendix: appendix?.resource, found: structuredContent };
}

test('asks twice, and returns about a megabyte of what it found', async () => {
  const answers = { scope: everything, appendix: accept({ append: true }) };
  const { result, rounds, asked, progress } = await runTool(handler, { topic: 'Storms' }, { answers });
  expect([rounds, Object.keys(asked)]).toEqual([3, ['scope', 'appendix']]);
  const { report, appendix, found } = parts(result);
  const bytes = Buffer.byteLength(JSON.stringify(result));
  expect(bytes).toBeGreaterThan(800_000);
  expect(bytes).toBeLessThan(1_200_000);
  expect(found).toMatchObject({ topic: 'storm', audience: 'general reader', appendix: { format: 'markdown' } });
  expect(found.aspects).toHaveLength(6);
  expect(appendix).toMatchObject({ mimeType: 'text/markdown', text: expect.stringContaining('**storm**') });
  expect(report).toMatch(/^# storm, in the journal.*\n## .*The concordance \(\d+ lines, markdown\) is appended\.$/s);
  // Each aspect once in round 2, and again, but at once, in round 3.
  expect(progress.map(({ message }) => message.replace(/.* \(/, '('))).toEqual(
    [...Array(2)].flatMap(() => [1, 2, 3, 4, 5, 6].map((number) => `(${number}/6)`)),
  );
});

test('the same arguments and answers give the same result', async () => {
  const answers = { scope: everything, appendix: accept({ append: true, format: 'csv' }) };
  const one = await runTool(handler, { topic: 'lamp oil', depth: 1 }, { answers });
  const other = await runTool(handler, { topic: 'lamp oil', depth: 1 }, { answers });
  // Compared as a boolean: the difference would fill the screen.
  expect(JSON.stringify(one) === JSON.stringify(other)).toBe(true);
});

test('researches each chosen aspect once in any number of rounds, and no other', async () => {
  vi.mocked(study).mockClear();
  const answers = { scope: scope(2, 'historian'), appendix: accept({ append: true, format: 'csv' }) };
  const { result, asked } = await runTool(handler, { topic: 'ice' }, { answers });
  expect(study).toHaveBeenCalledTimes(2);
  const { found, report, appendix } = parts(result);
  expect(accept({ aspects: found.aspects.map(({ name }) => name) })).toEqual(scope(2)(asked.scope as InputRequest));
  expect(found).toMatchObject({ audience: 'historian', appendix: { format: 'csv' } });
  expect(report).toContain('| year | entries |');
  const lines = appendix?.text.split('\n') ?? [];
  expect([lines[0], lines.length - 1]).toEqual(['term,date,left,word,right', found.appendix?.lines]);
  // What was read in round 2 is still known in round 3.
  const { message } = form(asked.appendix as InputRequest);
  expect(message).toContain(`${found.entries} entries were read`);
  expect(found.entries).toBeGreaterThan(20);
});

test.each([accept({ append: false }), { action: 'decline' }, { action: 'cancel' }])(
  'appends nothing when the answer is %o',
  async (answer) => {
    const answers = { scope: scope(1, 'statistician'), appendix: answer };
    const { result } = await runTool(handler, { topic: 'birds' }, { answers });
    const { found, report, appendix } = parts(result);
    expect([appendix, found.appendix]).toEqual([undefined, undefined]);
    expect(report).toContain('| term | count | tf-idf |');
  },
);

test('without an answer to what to research, researches nothing', async () => {
  const { result } = await runTool(handler, { topic: 'ice' }, { answers: { scope: { action: 'decline' } } });
  expect(result).toMatchObject({ isError: true });
});

test('asks nothing of a client that has no forms', async () => {
  const { result, rounds } = await runTool(handler, { topic: 'ice', depth: 1 }, { accepts: [] });
  expect(rounds).toBe(1);
  const { found, appendix } = parts(result);
  expect(found.aspects).toHaveLength(4);
  expect(appendix).toBeUndefined();
});

test.each(['zeppelins', 'the', '!!'])(
  'a topic the journal does not know, %s, is an error that says what to do',
  async (topic) => {
    const { result } = await runTool(handler, { topic });
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(/no word on .* Try/) }] });
  },
);
