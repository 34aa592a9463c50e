import { describe, expect, it } from 'vitest';
import type { FunctionSpec } from '../../lambda/index.ts';
import { errorOf, useBench } from './fixtures.ts';

const bench = useBench();

async function payloadOf(spec: FunctionSpec): Promise<unknown> {
  const result = await bench.open([spec]).invoke(spec.name, '{}');
  if (result.functionError) throw new Error(result.payload);
  return JSON.parse(result.payload);
}

async function failureOf(spec: FunctionSpec): Promise<unknown> {
  return errorOf(await bench.open([spec]).invoke(spec.name, '{}'));
}

describe('an asset is loaded as it would be in /var/task', () => {
  it('.js as CommonJS below a package.json that says module, with relative files and builtins', async () => {
    const files = {
      'index.js': `const { join } = require('node:path'); const { two } = require('./lib/two'); const data = require('./data.json');
        exports.handler = async () => [join('a', 'b'), two, data.three, __dirname === process.env.LAMBDA_TASK_ROOT, require.main === undefined];`,
      'lib/two.js': `module.exports = { two: this === module.exports && 2 };`,
      'data.json': '{"three":3}',
    };
    await expect(payloadOf(bench.define('cjs', files))).resolves.toEqual(['a/b', 2, 3, true, true]);
  });

  it('.mjs as a module, which may import a .js that is CommonJS and await at its top', async () => {
    const files = {
      'index.mjs': `import { two } from './two.js'; const three = await Promise.resolve(3); export const handler = async () => [two, three];`,
      'two.js': 'exports.two = 2;',
    };
    await expect(payloadOf(bench.define('esm', files))).resolves.toEqual([2, 3]);
  });

  it('.cjs, a handler in a folder, and a nested export', async () => {
    const files = { 'src/main.cjs': 'module.exports = { api: { run: async () => "nested" } };' };
    await expect(payloadOf(bench.define('nested', files, { handler: 'src/main.api.run' }))).resolves.toBe('nested');
  });

  it(".js as a module if the asset's own package.json says so", async () => {
    const files = {
      'package.json': '{"type":"module"}',
      'index.js': 'export const handler = async () => import.meta.filename.length > 0;',
    };
    await expect(payloadOf(bench.define('own-package', files))).resolves.toBe(true);
  });
});

describe('a load error is the answer of the invocation', () => {
  it('module missing', async () => {
    const spec = bench.define('no-module', { 'other.js': '' });
    await expect(failureOf(spec)).resolves.toMatchObject({
      errorType: 'Runtime.ImportModuleError',
      errorMessage: "Error: Cannot find module 'index'",
    });
  });

  it('dependency missing', async () => {
    const spec = bench.define('no-dependency', 'require("left-out"); exports.handler = async () => 1;');
    await expect(failureOf(spec)).resolves.toMatchObject({
      errorType: 'Runtime.ImportModuleError',
      errorMessage: expect.stringContaining("Error: Cannot find module 'left-out'"),
    });
  });

  it('export missing, or not a function', async () => {
    const spec = bench.define('no-export', 'exports.other = 1;');
    await expect(failureOf(spec)).resolves.toMatchObject({
      errorType: 'Runtime.HandlerNotFound',
      errorMessage: 'index.handler is undefined or not exported',
    });
    const notCallable = bench.define('no-function', 'exports.handler = 1;');
    await expect(failureOf(notCallable)).resolves.toMatchObject({ errorMessage: 'index.handler is not a function' });
  });

  it('malformed handler name', async () => {
    const spec = bench.define('malformed', 'exports.handler = async () => 1;', { handler: '../index.handler' });
    await expect(failureOf(spec)).resolves.toMatchObject({ errorType: 'Runtime.MalformedHandlerName' });
    const bare = bench.define('bare', 'exports.handler = async () => 1;', { handler: 'index' });
    await expect(failureOf(bare)).resolves.toMatchObject({ errorType: 'Runtime.MalformedHandlerName' });
  });

  it('syntax error: also for a module in a .js file', async () => {
    const spec = bench.define('syntax', 'export const handler = async () => 1;');
    await expect(failureOf(spec)).resolves.toMatchObject({ errorType: 'Runtime.UserCodeSyntaxError' });
  });

  it('a throw at the top of the module, each time again', async () => {
    const lambda = bench.open([bench.define('top', 'throw new TypeError("bad start");')]);
    for (let i = 0; i < 2; i++) {
      const error = errorOf(await lambda.invoke('top', '{}'));
      expect(error).toMatchObject({ errorType: 'TypeError', errorMessage: 'bad start' });
      expect(error.trace?.[0]).toBe('TypeError: bad start');
    }
    expect(lambda.workers()[0]?.count).toBe(0);
  });

  it('process.exit at the top of the module', async () => {
    await expect(failureOf(bench.define('exit-early', 'process.exit(3);'))).resolves.toMatchObject({
      errorType: 'Runtime.ExitError',
      errorMessage: expect.stringMatching(/^RequestId: \S+ Error: Runtime exited with error: exit status 3$/),
    });
  });

  it('a module that never finishes loading', async () => {
    const spec = bench.define('endless', 'for (;;);', { timeoutSeconds: 0.1 });
    const lambda = bench.open([spec], { initMs: 200 });
    expect(errorOf(await lambda.invoke('endless', '{}')).errorType).toBe('Sandbox.Timedout');
  });

  it('fails each waiting invocation once', async () => {
    const lambda = bench.open([bench.define('top-many', 'throw new Error("bad");')], { maxWorkersPerFunction: 2 });
    const results = await Promise.all(Array.from({ length: 5 }, () => lambda.invoke('top-many', '{}')));
    expect(results.map((result) => errorOf(result).errorMessage)).toEqual(Array(5).fill('bad'));
  });
});
