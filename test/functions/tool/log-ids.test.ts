import { basename, join } from 'node:path';
import { buildSync } from 'esbuild';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
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

describe('in this process', () => {
  /** The library as Lambda loads it, and what reaches the console of Lambda. */
  async function loaded(env: Record<string, string | undefined>) {
    const said: unknown[][] = [];
    for (const method of ['trace', 'debug', 'info', 'log', 'warn', 'error'] as const) {
      vi.spyOn(console, method).mockImplementation((...line) => void said.push([method, ...line]));
    }
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    onTestFinished(() => {
      vi.restoreAllMocks();
      vi.unstubAllEnvs();
      vi.resetModules();
    });
    vi.resetModules();
    const { withLogIds } = await import('../../../functions/tool/log-ids.ts');
    const run = <T>(of: object | undefined, work: () => Promise<T>) =>
      withLogIds({ name: 'split', arguments: {}, accepts: [], inputResponses: {}, task: of } as never, work);
    return { said, run };
  }
  const LAMBDA = { AWS_LAMBDA_FUNCTION_NAME: 'f', AWS_LAMBDA_LOG_FORMAT: 'JSON' };

  test('every method of the console names the task, once, and nothing after the run does', async () => {
    const { said, run } = await loaded(LAMBDA);
    for (let i = 0; i < 2; i++) await run(task, async () => {});
    const methods = ['trace', 'debug', 'info', 'log', 'warn', 'error'] as const;
    await run(task, async () => methods.forEach((method) => void console[method]('x')));
    console.log('after', 1);
    const lines = methods.map((method) => [method, { ...ids, message: 'x' }]);
    expect(said).toEqual([...lines, ['log', 'after', 1]]);
  });

  test('a line of more parts is one text, and a direct call has no task', async () => {
    const { said, run } = await loaded(LAMBDA);
    await run(task, async () => console.log('%s, %d', 'x', 2));
    await run(undefined, async () => console.log({ a: 1 }));
    expect(said).toEqual([
      ['log', { ...ids, message: 'x, 2' }],
      ['log', { tool: 'split', message: { a: 1 } }],
    ]);
  });

  test('a line of text begins with the ids', async () => {
    const { said, run } = await loaded({ ...LAMBDA, AWS_LAMBDA_LOG_FORMAT: 'Text' });
    await run(task, async () => console.log('100 %s'));
    await run(undefined, async () => console.log('x', 1));
    expect(said).toEqual([
      ['log', '%s', 'split t1 round 2 attempt 0: 100 %s'],
      ['log', '%s', 'split: x 1'],
    ]);
  });

  test('an error that a tool throws gets the ids that it does not have', async () => {
    const { run } = await loaded(LAMBDA);
    const thrown = (error: unknown) => run(task, () => Promise.reject(error)).catch((caught: unknown) => caught);
    expect(await thrown(Object.assign(new Error('x'), { round: 'own' }))).toMatchObject({ ...ids, round: 'own' });
    expect(await thrown('a text')).toBe('a text');
    const plain = { code: 1 };
    expect([await thrown(plain), plain]).toEqual([{ code: 1 }, { code: 1 }]);
  });

  test('outside of Lambda neither the console nor an error changes', async () => {
    const { said, run } = await loaded({ ...LAMBDA, AWS_LAMBDA_FUNCTION_NAME: undefined });
    const error = new Error('x');
    await expect(run(task, async () => console.log('x'))).resolves.toBe(undefined);
    await expect(run(task, () => Promise.reject(error))).rejects.toBe(error);
    expect([said, Object.keys(error)]).toEqual([[['log', 'x']], []]);
  });
});
