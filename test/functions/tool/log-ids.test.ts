import { basename, join } from 'node:path';
import { buildSync } from 'esbuild';
import { beforeAll, expect, test } from 'vitest';
import { useBench } from '../../../local/test/lambda/fixtures.ts';

const ROOT = join(import.meta.dirname, '../../..');
const bench = useBench();
let code: Record<string, string>;

/** As ToolFunction bundles it. */
beforeAll(() => {
  const contents = `
    import { setTimeout as sleep } from 'node:timers/promises';
    import { defineTool } from './functions/tool/index.ts';
    const definition = { description: 'd', inputSchema: { type: 'object' } } as const;
    export const handler = defineTool(definition, async ({ say, fail }: any) => {
      console.log(say);
      await sleep(20);
      console.warn('%s, %d', say, 2);
      console.debug('not heard in JSON');
      console.error(new TypeError('caught'));
      if (fail) throw Object.assign(new RangeError('thrown'), { round: 'its own' });
      return say;
    });`;
  const stdin = { contents, resolveDir: ROOT, sourcefile: 'tool.ts', loader: 'ts' } as const;
  const options = { bundle: true, platform: 'node', format: 'cjs', minify: true, sourcemap: true } as const;
  const { outputFiles } = buildSync({ stdin, ...options, outfile: join(ROOT, 'index.js'), write: false });
  code = { 'package.json': '{}', ...Object.fromEntries(outputFiles.map(({ path, text }) => [basename(path), text])) };
});

const task = { taskId: 't1', owner: 'o', table: 't', results: 'r', round: 2, attempt: 0, deadline: 0 };
const ids = { tool: 'split', taskId: 't1', round: 2, attempt: 0 };

function lambda(format: 'JSON' | 'Text') {
  const lines: string[] = [];
  const spec = bench.define('Tool', code, { memoryMb: 256, logging: { format } });
  const { invoke } = bench.open([spec], { onLog: (_name, line) => void lines.push(line) });
  const call = (args: object, of: object | undefined = undefined) =>
    invoke('Tool', JSON.stringify({ name: 'split', arguments: args, accepts: [], inputResponses: {}, task: of }));
  return { lines, call, messages: () => lines.map((line) => JSON.parse(line).message) };
}

test('each line of a task has tool, task, round and attempt as fields, if lines are JSON', async () => {
  const { call, messages, lines } = lambda('JSON');
  await call({ say: { a: 1 } }, task);
  expect(messages()).toEqual([
    { ...ids, message: { a: 1 } },
    { ...ids, message: '{ a: 1 }, 2' },
    { ...ids, message: { errorType: 'TypeError', errorMessage: 'caught', stackTrace: expect.any(Array) } },
  ]);
  expect(lines.map((line) => JSON.parse(line).level)).toEqual(['INFO', 'WARN', 'ERROR']);
});

test('the stack of an error in a line names the file of the tool', async () => {
  const { call, messages } = lambda('JSON');
  await call({ say: 'x' }, task);
  expect(messages()[2].message.stackTrace[1]).toMatch(/tool\.ts:10:21/);
});

test('the same as text, in front of the line', async () => {
  const { call, lines } = lambda('Text');
  await call({ say: '100 %s' }, task);
  expect(lines.slice(0, 3)).toEqual([
    'split t1 round 2 attempt 0: 100 %s',
    'split t1 round 2 attempt 0: 100 %s, 2',
    'split t1 round 2 attempt 0: not heard in JSON',
  ]);
});

test('a direct call has the tool only', async () => {
  const { call, messages } = lambda('JSON');
  await call({ say: 'x' });
  expect(messages()[0]).toEqual({ tool: 'split', message: 'x' });
});

test('events that run at once in one worker keep their own ids', async () => {
  const { call, messages } = lambda('JSON');
  await Promise.all(['a', 'b', 'c'].map((taskId) => call({ say: taskId }, { ...task, taskId })));
  const said = messages().filter(({ message }) => typeof message === 'string');
  expect(said).toHaveLength(6);
  for (const { taskId, message } of said) expect(message.slice(0, 1)).toBe(taskId);
});

test('what a tool throws is logged with its ids, and returned without them', async () => {
  const { call, lines } = lambda('JSON');
  const { payload } = await call({ say: 'x', fail: true }, task);
  expect(JSON.parse(payload)).toEqual({ errorType: 'RangeError', errorMessage: 'thrown', trace: expect.any(Array) });
  const thrown = JSON.parse((lines.at(-1) ?? '').replace('Invoke Error ', ''));
  expect(thrown).toMatchObject({ ...ids, round: 'its own', errorType: 'RangeError' });
});
