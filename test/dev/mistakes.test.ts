import { describe, expect, test } from 'vitest';
import { APP, developed, tool } from './developed.ts';

const { write, start, until } = developed();

/** Mistakes that an author makes, and what the terminal says of each (docs/developing.md). */
describe('the terminal says what to do', () => {
  test('a type error, which does not keep the app from running', async () => {
    write('typed.ts', "export const n: number = 'one';\n");
    expect(await until(/typed\.ts/)).toMatch(/✗ typed\.ts:1:14: TS2322: Type 'string' is not assignable/);
    write('typed.ts', 'export const n: number = 1;\n');
  });

  const TYPED = "outputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }";
  let last = '';
  const withTool = (options: string) => `${APP.replace(/server\.addTool.*/, '')}
server.addTool('hello', { description: 'd', inputSchema: { type: 'object' }, handler, ${options} });`;

  test.each<[string, { tool?: string; options?: string }, RegExp]>([
    ['a misspelt option', { options: 'timout: 5' }, /Tool 'hello': it has no option 'timout', only .*timeout/],
    [
      'a result that does not fit its outputSchema',
      { tool: '({ n: "one" })', options: TYPED },
      /hello: its structuredContent does not fit its outputSchema: \/n must be number/,
    ],
    [
      'a question that is not valid',
      {
        tool: "({ inputRequests: { a: { method: 'elicitation/create', params: {} } } })",
        options: "taskSupport: 'required'",
      },
      /hello ….{10} failed: InputRequestInvalid \(a question is .*use elicitForm\)/,
    ],
    [
      'a rejection without a handler',
      { tool: "{ void Promise.reject(new Error('lost')); await new Promise(() => {}) }" },
      /UnhandledPromiseRejection/,
    ],
    ['a BigInt', { tool: '1n' }, /Unable to stringify response body/],
    ['a process that exits', { tool: '{ process.exit(3) }' }, /exit status 3 .*an exit by the tool/],
    [
      'a tool that takes too long',
      { tool: 'new Promise(() => {})' },
      /timed out after 3\.00 seconds .*raise the timeout/,
    ],
  ])('%s', async (_title, { tool: text = "'fine'", options = '' }, wanted) => {
    write('hello.ts', tool("'fine'"));
    const app = withTool(options);
    write('app.ts', app);
    if (app !== last && !/no option/.test(String(wanted))) await until(/synthesized again|restarted/);
    last = app;
    write('hello.ts', tool(text));
    if (!/no option/.test(String(wanted))) {
      await until(/hello\.ts rebuilt/);
      await start();
    }
    await until(wanted);
  });
});
