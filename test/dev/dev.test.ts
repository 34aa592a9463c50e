import { globSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { runTasks } from '../../bin/tasks/index.ts';
import { readProject } from '../../local/dev/project.ts';
import { type Session, startSession } from '../../local/dev/session.ts';
import { terminal } from '../../local/dev/terminal.ts';
import { modernRequest } from '../support/clients.ts';

const APP = `
import { App, Duration, Stack } from 'aws-cdk-lib';
import { UserPool } from 'aws-cdk-lib/aws-cognito';
import { Vpc } from 'aws-cdk-lib/aws-ec2';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { anonymous, McpTaskServer, ToolFunction } from 'REPO/lib/index.ts';

const stack = new Stack(new App(), 'Shop');
new Vpc(stack, 'Network', { maxAzs: 2, natGateways: 0 });
new UserPool(stack, 'People');
const topic = new Topic(stack, 'Orders');
const server = new McpTaskServer(stack, 'Server', { auth: anonymous(), serverInfo: { name: 'shop', version: '1' } });
const environment = { TOPIC: topic.topicArn };
const handler = new ToolFunction(stack, 'Hello', { entry: 'hello.ts', environment });
topic.grantPublish(handler);
server.addTool('hello', { description: 'Says hello', inputSchema: { type: 'object' }, handler });
`;
const tool = (text: string) => `
import { defineTool } from 'REPO/functions/tool/index.ts';
export const handler = defineTool({ description: 'd', inputSchema: { type: 'object' } }, async () => ${text});
`;

const ROOT = resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'mcp-dev-'));
const write = (file: string, text: string) => writeFileSync(join(folder, file), text.replaceAll('REPO', ROOT));
const printed: string[] = [];
const printer = terminal({
  verbose: false,
  write: (text) => void printed.push(text),
  now: () => new Date(0),
  nameOf: (name) => name,
});
const options = { port: 0, data: undefined, stack: undefined, strict: false, variables: {} };
let session: Session;

beforeAll(async () => {
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const compilerOptions = {
    noEmit: true,
    strict: true,
    module: 'nodenext',
    allowImportingTsExtensions: true,
    types: [],
  };
  write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['typed.ts'] }));
  write('typed.ts', 'export const n: number = 1;\n');
  write('package.json', '{"type":"module"}');
  write('cdk.json', JSON.stringify({ app: `${process.execPath} app.ts` }));
  write('app.ts', APP);
  write('hello.ts', tool("'hello, world'"));
  session = await startSession(readProject(folder), options, printer);
}, 120_000);
beforeEach(async () => {
  await session.idle();
  printed.length = 0;
});
afterAll(async () => {
  await session?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('mcp-task-server tasks finds it from the folder of the project, and below; only its user can read where', async () => {
  const printed_: string[] = [];
  const terminal_ = {
    out: (text: string) => void printed_.push(text),
    err: (text: string) => void printed_.push(text),
    ...{ env: {}, folder: join(folder, 'node_modules') },
  };
  expect(await runTasks(['list'], terminal_)).toBe(0);
  expect(printed_).toEqual(['No task.\n']);
  const files = globSync('cdk.out/mcp-task-server-dev/*/server.json', { cwd: folder });
  expect(files).toHaveLength(1);
  expect(statSync(join(folder, files[0] ?? '')).mode & 0o777).toBe(0o600);
  expect(await runTasks(['list'], { ...terminal_, folder: '/' })).toBe(2);
  expect(printed_.join('')).toContain("No 'mcp-task-server dev' runs in this folder");
});

async function connected(): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${session.url}/mcp`)));
  return client;
}

async function call(): Promise<string> {
  const client = await connected();
  try {
    const { content } = await client.callTool({ name: 'hello', arguments: {} });
    return String((content as { text: string }[])[0]?.text);
  } finally {
    await client.close();
  }
}

async function started(name: string): Promise<string> {
  const { body } = await modernRequest(`${session.url}/mcp`, 'tools/call', { name, arguments: {} });
  return body.result.taskId;
}

/** Calls the tool as a client that knows tasks, and reads its task until it has ended. */
async function start(): Promise<void> {
  const { body } = await modernRequest(`${session.url}/mcp`, 'tools/call', { name: 'hello', arguments: {} });
  const { taskId } = body.result ?? {};
  for (let reads = 0; taskId !== undefined && reads < 20; reads++) {
    const { result } = (await modernRequest(`${session.url}/mcp`, 'tasks/get', { taskId })).body;
    if (result.status === 'failed' || result.status === 'completed') return;
    await sleep(100);
  }
}

async function descriptions() {
  const client = await connected();
  const { tools } = await client.listTools();
  await client.close();
  return tools.map(({ description }) => description);
}

/** Resolves when the terminal has printed a line that matches, since the last such wait. */
async function until(line: RegExp): Promise<string> {
  for (;;) {
    const at = printed.findIndex((text) => line.test(text));
    if (at !== -1) return printed.splice(0, at + 1).at(-1) ?? '';
    await sleep(20);
  }
}

test('an app with a network, a user pool and a topic starts, and says what it leaves alone', () => {
  const services = Object.fromEntries(session.leftAlone);
  expect(services).toEqual({ 'AWS::EC2': 17, 'AWS::Cognito': 1, 'AWS::SNS': 1 });
});

test('with --strict the same app is refused, each resource by name', async () => {
  const strict = startSession(readProject(folder), { ...options, strict: true }, printer);
  await expect(strict).rejects.toThrow(/does not know AWS::EC2::VPC .*Shop\/Network/);
}, 60_000);

test('a path may lead elsewhere, as /_tasks does to the page of the tasks, for names of this machine only', async () => {
  session.redirects.set('/_tasks', 'http://127.0.0.1:1/token/');
  const { status, headers } = await fetch(`${session.url}/_tasks`, { redirect: 'manual' });
  expect({ status, location: headers.get('location') }).toEqual({ status: 302, location: 'http://127.0.0.1:1/token/' });
  expect((await fetch(`${session.url}/_tasks`, { method: 'POST' })).status).toBe(403);
  session.redirects.clear();
  expect((await fetch(`${session.url}/_tasks`)).status).toBe(403);
});

test('a second dev in the same folder leaves the first one alone', async () => {
  const second = await startSession(readProject(folder), options, printer);
  await second.stop();
  expect(await call()).toBe('hello, world');
}, 60_000);

describe('a saved tool', () => {
  test('runs without a restart; a call that runs meanwhile ends on the old code', async () => {
    expect(await call()).toBe('hello, world');
    write('hello.ts', tool("new Promise((done) => setTimeout(() => done('slow'), 1500))"));
    await until(/hello\.ts rebuilt in \d+ ms/);
    const slow = call();
    await sleep(300);
    write('hello.ts', tool("'hello again'"));
    await until(/hello\.ts rebuilt in \d+ ms/);
    expect(await call()).toBe('hello again');
    expect(await slow).toBe('slow');
  });

  test('that cannot be built keeps the last version; the terminal names file and line', async () => {
    write('hello.ts', tool("'unclosed"));
    expect(await until(/✗/)).toMatch(/✗ hello\.ts:3:\d+: Unterminated string literal/);
    expect(await call()).toBe('hello again');
  });

  test('saved twice in a moment: the last version counts', async () => {
    write('hello.ts', tool("'first'"));
    await sleep(60);
    write('hello.ts', tool("'second'"));
    await vi.waitFor(async () => expect(await call()).toBe('second'), 10_000);
    await session.idle();
    expect(await call()).toBe('second');
  });

  test('of another file: the app says so, and the other file answers', async () => {
    write('other.ts', tool("'other'"));
    write('app.ts', APP.replace("entry: 'hello.ts'", "entry: 'other.ts'"));
    await vi.waitFor(async () => expect(await call()).toBe('other'), 20_000);
    write('app.ts', APP);
    await vi.waitFor(async () => expect(await call()).toBe('second'), 20_000);
  });

  test('that throws: the terminal shows its own file and line', async () => {
    write('hello.ts', tool("{ throw new TypeError('Database is down') }"));
    await until(/rebuilt/);
    await expect(call()).rejects.toThrow('The tool failed');
    const told = await until(/Database/);
    expect(told).toMatch(/Hello.* │ ✗ TypeError: Database is down\n\s+at .*hello\.ts:3:\d+/);
    expect(told).not.toMatch(/worker|node:internal/);
  });
});

describe('a change of the app', () => {
  test('of a description alone is deployed beside what runs', async () => {
    write('app.ts', APP.replace('Says hello', 'Greets'));
    await until(/synthesized again: 1 function updated/);
    await session.idle();
    expect(await descriptions()).toContain('Greets');
  });

  test('that needs another cloud restarts it, with its tasks', async () => {
    write('hello.ts', tool("'kept'"));
    await until(/rebuilt/);
    const schema = `inputSchema: { type: 'object' }, taskSupport: 'optional'`;
    write('app.ts', `${APP}\nserver.addTool('slow', { description: 'slow', ${schema}, handler });`);
    await until(/restarted: tasks and sessions are kept/);
    const before = await started('slow');
    write(
      'app.ts',
      `${APP}\nserver.addTool('slow', { description: 'slower', ${schema}, handler, timeout: Duration.minutes(2) });`,
    );
    await until(/restarted: tasks and sessions are kept/);
    expect(await descriptions()).toContain('slower');
    const { body } = await modernRequest(`${session.url}/mcp`, 'tasks/get', { taskId: before });
    expect(body.result).toMatchObject({ status: 'completed' });
    expect(await call()).toBe('kept');
  });

  test('that the cloud refuses leaves the last good one running, and the terminal says why', async () => {
    const refused = `
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { DefinitionBody, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
const role = new Role(stack, 'Wrong', { assumedBy: new ServicePrincipal('s3.amazonaws.com') });
const definitionBody = DefinitionBody.fromString('{"StartAt":"A","States":{"A":{"Type":"Succeed"}}}');
const stateMachine = new StateMachine(stack, 'Machine', { definitionBody, role: role.withoutPolicyUpdates() });
server.addTool('machine', { description: 'm', inputSchema: { type: 'object' }, stateMachine });`;
    write('app.ts', APP + refused);
    expect(await until(/✗/)).toMatch(/may not assume the role/);
    expect(await call()).toBe('kept');
  });

  test('that does not run leaves the running app as it is, and the terminal says why', async () => {
    write('app.ts', APP.replace('new App()', 'new Ap()'));
    expect(await until(/✗/)).toMatch(/Ap is not defined/);
    expect(await call()).toBe('kept');
  });
});

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
      'a name twice',
      { options: '}).addTool("hello", { description: "d", inputSchema: {}, handler' },
      /registered twice/,
    ],
    ['a wrong import in the tool', { tool: "import('./no-such-file.ts')" }, /hello\.ts:3:\d+: Could not resolve/],
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
      /hello ….{6} failed: InputRequestInvalid \(a question is .*use elicitForm\)/,
    ],
    [
      'a rejection without a handler',
      { tool: "{ void Promise.reject(new Error('lost')); await new Promise(() => {}) }" },
      /UnhandledPromiseRejection/,
    ],
    ['a BigInt', { tool: '1n' }, /Unable to stringify response body/],
    ['a process that exits', { tool: '{ process.exit(3) }' }, /exit status 3/],
  ])('%s', async (_title, { tool: text = "'fine'", options = '' }, told) => {
    write('hello.ts', tool("'fine'"));
    const app = withTool(options);
    write('app.ts', app);
    if (app !== last && !/no option|twice/.test(String(told))) await until(/synthesized again|restarted/);
    last = app;
    write('hello.ts', tool(text));
    if (!/no option|twice|resolve/.test(String(told))) {
      await until(/hello\.ts rebuilt/);
      await start();
    }
    await until(told);
  });
});
