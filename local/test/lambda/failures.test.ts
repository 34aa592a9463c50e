import { describe, expect, it } from 'vitest';
import { errorOf, until, useBench } from './fixtures.ts';

const bench = useBench();

describe('a function that throws', () => {
  it('answers with name, message and trace, and keeps its worker', async () => {
    const source = `let calls = 0;
      class CardDeclined extends Error { name = 'CardDeclined'; }
      exports.handler = async (event) => { calls++; if (event.fail) throw new CardDeclined('no money'); return calls; };`;
    const lines: string[] = [];
    const lambda = bench.open([bench.define('throws', source)], { onLog: (_name, line) => lines.push(line) });
    const result = await lambda.invoke('throws', '{"fail":true}');
    const error = errorOf(result);
    expect(Object.keys(error)).toEqual(['errorType', 'errorMessage', 'trace']);
    expect(error).toMatchObject({ errorType: 'CardDeclined', errorMessage: 'no money' });
    expect(error.trace?.[1]).toContain('index.js');
    expect(lines.join()).toContain('Invoke Error');
    expect((await lambda.invoke('throws', '{}')).payload).toBe('2');
  });

  it('may throw what is not an error, or before its first await', async () => {
    const lambda = bench.open([bench.define('throws-odd', 'exports.handler = (event) => { throw event.what; };')]);
    expect(errorOf(await lambda.invoke('throws-odd', '{"what":42}'))).toEqual({
      errorType: 'number',
      errorMessage: '42',
      trace: [],
    });
  });
});

describe('an error has the name that the runtime client of AWS reports', () => {
  const source = `const vm = require('node:vm');
    const thrown = {
      realm: () => Object.assign(vm.runInNewContext('new Error("m")'), { name: 'Named' }),
      object: () => ({ name: 'Named', message: 'm', stack: 'a\\nb' }),
      'object without a stack': () => ({ name: 'Named', message: 'm' }),
      'object with an empty message': () => ({ name: 'Named', message: '', stack: 's' }),
      'name that is not text': () => Object.assign(new Error('m'), { name: 5 }),
      'no stack': () => Object.assign(new Error('m'), { stack: undefined }),
      null: () => null,
      undefined: () => undefined,
      text: () => 'm',
      'DEL in its name': () => Object.assign(new Error('m'), { name: 'Na\\x7fmed' }),
    };
    exports.handler = async ({ what }) => { throw thrown[what](); };`;

  it.each([
    ['realm', 'Named'],
    ['object', 'Named'],
    ['object without a stack', 'object'],
    ['object with an empty message', 'object'],
    ['name that is not text', 'handled'],
    ['no stack', 'handled'],
    ['null', 'handled'],
    ['undefined', 'handled'],
    ['text', 'string'],
    ['DEL in its name', 'Na%7Fmed'],
  ])('%s: %s', async (what, errorType) => {
    const lambda = bench.open([bench.define('throws-named', source)]);
    expect(errorOf(await lambda.invoke('throws-named', JSON.stringify({ what }))).errorType).toBe(errorType);
  });
});

describe('a worker that breaks is discarded', () => {
  const source = `let calls = 0;
    const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    exports.handler = async ({ act }) => {
      calls++;
      if (act === 'reject') { Promise.reject(new RangeError('left alone')); await sleep(5000); }
      if (act === 'uncaught') { setTimeout(() => { throw new RangeError('loose'); }, 5); await sleep(5000); }
      if (act === 'exit') process.exit(7);
      if (act === 'quit') process.exit();
      if (act === 'memory') { console.log('filling'); const all = []; for (;;) all.push(new Array(10000).fill(Math.random())); }
      if (act === 'later') setTimeout(() => process.exit(1), 5);
      return calls;
    };`;
  const cases = [
    ['reject', 'Runtime.UnhandledPromiseRejection', 'RangeError: left alone'],
    ['uncaught', 'RangeError', 'loose'],
    ['exit', 'Runtime.ExitError', 'Runtime exited with error: exit status 7'],
    ['quit', 'Runtime.ExitError', 'Runtime exited without providing a reason'],
    ['memory', 'Runtime.ExitError', 'Runtime exited with error: signal: killed'],
  ] as const;

  it.each(cases)('%s', async (act, errorType, message) => {
    const lambda = bench.open([bench.define(`breaks-${act}`, source, { memoryMb: 32 })]);
    const error = errorOf(await lambda.invoke(`breaks-${act}`, JSON.stringify({ act })));
    expect(error.errorType).toBe(errorType);
    expect(error.errorMessage.endsWith(message)).toBe(true);
    if (errorType === 'Runtime.ExitError') expect(error.errorMessage).toMatch(/^RequestId: [0-9a-f-]{36} Error: /);
    expect((await lambda.invoke(`breaks-${act}`, '{}')).payload).toBe('1');
  });

  it('also while it is idle, which no invocation notices', async () => {
    const lambda = bench.open([bench.define('breaks-later', source)]);
    expect((await lambda.invoke('breaks-later', '{"act":"later"}')).payload).toBe('1');
    await until(() => lambda.workers()[0]?.count === 0);
    expect((await lambda.invoke('breaks-later', '{}')).payload).toBe('1');
  });

  it('does not lose earlier log lines', async () => {
    const lines: string[] = [];
    const spec = bench.define('breaks-log', source, { memoryMb: 32 });
    const lambda = bench.open([spec], { onLog: (_name, line) => lines.push(line) });
    await lambda.invoke('breaks-log', '{"act":"memory"}');
    expect(lines).toContain('filling');
  });
});

describe('the function timeout', () => {
  it('stops the worker, busy loops included, and says so as AWS does', async () => {
    const shared = `exports.handler = async ({ spin }) => { while (spin); await new Promise((resolve) => setTimeout(resolve, 60000)); };`;
    const lambda = bench.open([bench.define('slow', shared, { timeoutSeconds: 0.25 })]);
    const results = await Promise.all([lambda.invoke('slow', '{"spin":true}'), lambda.invoke('slow', '{}')]);
    for (const result of results) {
      const { errorType, errorMessage } = errorOf(result);
      expect(errorType).toBe('Sandbox.Timedout');
      expect(errorMessage).toMatch(/^RequestId: [0-9a-f-]{36} Error: Task timed out after 0\.25 seconds$/);
      expect(Object.keys(JSON.parse(result.payload))).toEqual(['errorType', 'errorMessage']);
    }
    expect(lambda.workers()[0]).toMatchObject({ count: 0, busy: 0 });
  });

  it('does not count the time the module takes to load', async () => {
    const source = `const end = Date.now() + 300; while (Date.now() < end); exports.handler = async () => 'fine';`;
    const lambda = bench.open([bench.define('slow-start', source, { timeoutSeconds: 0.2 })]);
    expect((await lambda.invoke('slow-start', '{}')).payload).toBe('"fine"');
  });

  it('starts again with each invocation', async () => {
    const source = 'exports.handler = async () => new Promise((resolve) => setTimeout(resolve, 200, 1));';
    const lambda = bench.open([bench.define('again', source, { timeoutSeconds: 0.7 })]);
    for (let i = 0; i < 4; i++) expect((await lambda.invoke('again', '{}')).payload).toBe('1');
    expect(lambda.workers()[0]?.count).toBe(1);
  });
});

describe('kill', () => {
  it('ends the workers like a crash; a waiting event gets a new worker', async () => {
    const source = `let calls = 0; exports.handler = async ({ ms }) => { console.log('on'); await new Promise((resolve) => setTimeout(resolve, ms)); return ++calls; };`;
    let begun = false;
    const lambda = bench.open([bench.define('victim', source)], {
      maxWorkersPerFunction: 1,
      onLog: () => {
        begun = true;
      },
    });
    const running = lambda.invoke('victim', '{"ms":60000}');
    await until(() => begun);
    const waiting = lambda.invoke('victim', '{"ms":1}');
    lambda.kill('victim');
    expect(errorOf(await running).errorMessage).toMatch(/Runtime exited with error: signal: killed$/);
    expect((await waiting).payload).toBe('1');
  });

  it('does nothing to a function that has no workers, and refuses an unknown one', () => {
    const lambda = bench.open([bench.define('unborn', '')]);
    lambda.kill('unborn');
    expect(() => lambda.kill('unknown')).toThrow('Function not found');
  });
});
