import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { App, Duration, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { afterAll, describe, expect, test } from 'vitest';
import { SERVER_MARK } from '../../../functions/operator/server-mark.ts';
import { Auth, McpTaskServer, ToolFileError, type ToolFileProps, ToolFunction } from '../../../lib/index.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const folder = mkdtempSync(join(ROOT, 'cdk.out.tool-file-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a file, and returns its path from the folder in which tests run. */
function write(name: string, text: string): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return relative(process.cwd(), file);
}
const tool = (more = '', run = '() => 1') => `
import { defineTool } from 'mcp-task-server/tool';
${more}
const definition = { description: 'Says one', inputSchema: { type: 'object' }, taskSupport: 'optional' } as const;
export const handler = defineTool(definition, ${run});
`;

function made(dev = false) {
  const app = new App({ context: dev ? { 'mcp-task-server:dev': true } : {}, outdir: join(folder, 'out') });
  const stack = new Stack(app, 'S');
  return { stack, server: new McpTaskServer(stack, 'Server', { auth: Auth.anonymous() }) };
}
const add = (file: string, props: ToolFileProps = {}, dev = false) => {
  const { stack, server } = made(dev);
  return { stack, server, tool: server.addToolFile('one', file, props) };
};
/** What the template says of the tools, for operators. */
const marks = (stack: Stack) => {
  const functions = Object.values(Template.fromStack(stack).findResources('AWS::Lambda::Function'));
  return functions.flatMap(({ Metadata }) => Metadata?.[SERVER_MARK] ?? [])[0].tools;
};

describe('addToolFile', () => {
  const file = write('one.ts', tool());

  test('registers the tool that its file describes, with a function in the server', () => {
    const { stack, tool } = add(file, { timeout: Duration.seconds(7), environment: { A: 'b' } });
    expect(tool.function).toBeInstanceOf(ToolFunction);
    expect(tool.role).toBe(tool.function.role);
    expect(marks(stack).one).toMatchObject({ engine: 'standard', timeout: 900_000 });
    Template.fromStack(stack).hasResourceProperties('AWS::Lambda::Function', {
      Timeout: 7,
      Handler: 'index.handler',
      Environment: { Variables: { A: 'b', NODE_OPTIONS: '--enable-source-maps' } },
    });
    expect(marks(stack).one.handler).toMatch(/^ServerToolsoneFunction/);
  });

  test('takes the other options of addTool', () => {
    const options = { timeout: Duration.minutes(2), ttl: Duration.hours(3), keepArguments: true };
    const { stack } = add(file, { tool: options });
    expect(marks(stack).one).toMatchObject({ timeout: 120_000, ttl: 10_800_000, keepArguments: true });
    const wrong = { tool: { timout: 1 } } as ToolFileProps;
    expect(() => add(file, wrong)).toThrow(/^Tool 'one': it has no option 'timout'/);
  });

  test('reads a file that dev builds, too', () => {
    expect(marks(add(file, {}, true).stack).one).toMatchObject({ engine: 'standard' });
  });

  test('reads a schema of a library, a default import and a file beside it', () => {
    write('lib/shared.ts', "export default { most: 3 };\nexport enum Kind { a = 'a' }\n");
    const imports = "import { z } from 'zod';\nimport shared, { Kind } from './lib/shared';";
    const text = tool(imports).replace(
      "{ type: 'object' }",
      'z.object({ n: z.number().max(shared.most), k: z.enum(Kind) })',
    );
    const { stack } = add(write('schema.ts', text));
    expect(marks(stack).one).toMatchObject({ engine: 'standard' });
  });

  test('reads another export, and code whose packages CDK installs', () => {
    const other = write(
      'other.ts',
      `${tool()}export const other = handler;\n`.replace('export const handler', 'const handler'),
    );
    const bundling = { nodeModules: ['zod'] };
    expect(add(other, { handler: 'other' }, true).tool.toolName).toBe('one');
    const outside = write('outside.ts', tool("import { z } from 'zod';\nif (z === undefined) throw new Error();"));
    const app = new App({ context: { 'aws:cdk:bundling-stacks': [] } });
    const server = new McpTaskServer(new Stack(app, 'S'), 'Server', { auth: Auth.anonymous() });
    expect(server.addToolFile('one', outside, { bundling }).toolName).toBe('one');
  });

  test.each<[string, string, RegExp]>([
    ['no handler', 'export const x = 1;', /has no export 'handler' that defineTool made: export const handler = def/],
    ['a handler that defineTool did not make', 'export const handler = async () => 1;', /has no export 'handler'/],
    ['a file that throws', tool("throw new TypeError('no key');"), /throws when it is loaded: TypeError: no key/],
    ['a syntax error', tool('const = 1;'), /cannot be built: .*bad\.ts:3:6: ERROR: Expected identifier/s],
    [
      'a schema that cannot be written',
      tool("import { z } from 'zod';").replace("{ type: 'object' }", 'z.object({ d: z.date() })'),
      /has a definition that cannot be written: inputSchema: zod cannot write it/,
    ],
  ])('%s is refused by the name of the tool and its file', (_title, text, problem) => {
    const bad = write('bad.ts', text);
    for (const dev of [true, false]) {
      const adding = () => add(bad, {}, dev);
      expect(adding).toThrow(ToolFileError);
      expect(adding).toThrow(problem);
      expect(adding).toThrow(`Tool 'one': ${bad} `);
    }
  });

  test('a file that is not there is refused, with the folder where paths begin', () => {
    expect(() => add('nowhere.ts')).toThrow(`Tool 'one': nowhere.ts is not there: paths begin in ${process.cwd()}`);
  });

  test('a name that cannot be is refused before anything is built', () => {
    const { server } = made();
    server.addToolFile('one', file);
    expect(() => server.addToolFile('one', file)).toThrow("Tool 'one': registered twice");
    expect(() => server.addToolFile('a b', 'nowhere.ts')).toThrow(/^Tool 'a b': a name is/);
  });
});

describe('an app that is run', () => {
  const app = (imports: string) => `${imports}
const server = new McpTaskServer(new Stack(new App(), 'S'), 'Server', { auth: Auth.anonymous() });
console.log(server.addToolFile('one', 'one.ts').toolName);
`;
  const asCommonJs = (text: string) =>
    text
      .replace(/import (.*) from (.*);/g, 'const $1 = require($2);')
      .replace('export const handler', 'exports.handler');
  const imports = [
    "import { App, Stack } from 'aws-cdk-lib';",
    "import { Auth, McpTaskServer } from 'mcp-task-server';",
  ];
  const esm = app(imports.join('\n'));

  test.each([
    ['ES modules', 'module', 'app.ts', esm, tool()],
    ['CommonJS', 'commonjs', 'app.cjs', asCommonJs(esm), tool()],
    ['CommonJS, as its tool', 'commonjs', 'app.cts', asCommonJs(esm), asCommonJs(tool())],
  ])('by node, as %s', async (_title, type, file, text, one) => {
    const project = file.replace('.', '-');
    write(`${project}/package.json`, JSON.stringify({ type }));
    write(`${project}/${file}`, text);
    write(`${project}/one.ts`, one);
    const cwd = join(folder, project);
    mkdirSync(join(cwd, 'node_modules'));
    symlinkSync(ROOT, join(cwd, 'node_modules/mcp-task-server'));
    const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd });
    expect(stdout).toMatch(/^one$/m);
  });
});
