import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type Session, startSession } from '../../local/dev/session.ts';
import { terminal } from '../../local/dev/terminal.ts';
import { readProject } from '../../local/testing.ts';
import { modernRequest } from '../support/clients.ts';

export const APP = `
import { App, Duration, Stack } from 'aws-cdk-lib';
import { UserPool } from 'aws-cdk-lib/aws-cognito';
import { Vpc } from 'aws-cdk-lib/aws-ec2';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Auth, McpTaskServer, ToolFunction } from 'REPO/lib/index.ts';

const stack = new Stack(new App(), 'Shop');
new Vpc(stack, 'Network', { maxAzs: 2, natGateways: 0 });
new UserPool(stack, 'People');
const topic = new Topic(stack, 'Orders');
const server = new McpTaskServer(stack, 'Server', { auth: Auth.anonymous(), serverInfo: { name: 'shop', version: '1' } });
const environment = { TOPIC: topic.topicArn };
const bundling = { loader: { '.sql': 'text' } };
const handler = new ToolFunction(stack, 'Hello', { entry: 'hello.ts', environment, bundling });
topic.grantPublish(handler);
server.addTool('hello', { description: 'Says hello', inputSchema: { type: 'object' }, handler });
`;
export const tool = (text: string) => `
import { defineTool } from 'REPO/functions/tool/index.ts';
export const handler = defineTool({ description: 'd', inputSchema: { type: 'object' } }, async () => ${text});
`;

/** A project with one tool, for the tests of one file. It goes with them. */
export function project(app = APP) {
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

  /** Resolves when the terminal has printed a line that matches, since the last such wait. */
  async function until(line: RegExp): Promise<string> {
    for (;;) {
      const at = printed.findIndex((text) => line.test(text));
      if (at !== -1) return printed.splice(0, at + 1).at(-1) ?? '';
      await sleep(20);
    }
  }

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
  write('app.ts', app);
  write('hello.ts', tool("'hello, world'"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return { folder, write, printed, printer, options, until };
}

/** A project with one tool, and `dev` in it. */
export function developed(app = APP) {
  const made = project(app);
  const { folder, printed, printer, options } = made;
  let session: Session | undefined;
  let atStart: readonly string[] = [];

  beforeAll(async () => {
    session = await startSession(readProject(folder), options, printer);
    atStart = [...printed];
  }, 120_000);
  beforeEach(async () => {
    await current().idle();
    printed.length = 0;
  });
  afterAll(async () => {
    await session?.stop();
  });

  async function connected(): Promise<Client> {
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${current().url}/mcp`)));
    return client;
  }

  async function call(name = 'hello'): Promise<string> {
    const client = await connected();
    try {
      const { content } = await client.callTool({ name, arguments: {} });
      return String((content as { text: string }[])[0]?.text);
    } finally {
      await client.close();
    }
  }

  async function started(name: string): Promise<string> {
    const { body } = await modernRequest(`${current().url}/mcp`, 'tools/call', { name, arguments: {} });
    return body.result.taskId;
  }

  /** Calls the tool as a client that knows tasks, and reads its task until it has ended. */
  async function start(): Promise<void> {
    const { body } = await modernRequest(`${current().url}/mcp`, 'tools/call', { name: 'hello', arguments: {} });
    const { taskId } = body.result ?? {};
    for (let reads = 0; taskId !== undefined && reads < 20; reads++) {
      const { result } = (await modernRequest(`${current().url}/mcp`, 'tasks/get', { taskId })).body;
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

  function current(): Session {
    if (session === undefined) throw new Error('dev has not started yet');
    return session;
  }
  return {
    ...made,
    printedAtStart: () => atStart,
    session: current,
    connected,
    call,
    started,
    start,
    descriptions,
  };
}
