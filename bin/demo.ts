import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { callTask, type OfficialClient, type Question } from 'mcp-task-server/client';
import { startCloud } from 'mcp-task-server-local';
import { messageOf } from '../local/command.ts';
import { synthApp } from '../local/template/synth.ts';
import { functionLogs } from './demo/logs.ts';
import { indent, note, progressBar, say, title, warn } from './demo/print.ts';

const info = { name: 'mcp-task-server-demo', version: '1.0.0' };
const LOG = 'demo.log';
const NEXT = `
Done: three tasks, two protocol revisions, one record each. Next:
  npm run dev        serves these tools and a page with their tasks, and follows what you save
  README.md          "Add a tool": your own tool, from an empty file to its result
  docs/clients.md    how to connect Claude Code, VS Code and other clients
  ${LOG}           what the functions logged`;

/** `npm run demo`: three real tasks, end to end, through the stack that `cdk deploy` would create. */
async function main(): Promise<void> {
  const { verbose } = parseArgs({ options: { verbose: { type: 'boolean', default: false } } }).values;
  const assembly = mkdtempSync(join(tmpdir(), 'mcp-demo-'));
  try {
    note('Synthesizing bin/app.ts …');
    await synthApp('bin/app.ts', assembly);
    const cloud = await startCloud({ assembly, onLog: functionLogs({ file: LOG, verbose, show: warn }) });
    try {
      const url = new URL(`${cloud.url}/mcp`);
      note(`The stack runs at ${url}`);
      await modernTasks(url);
      await legacyTask(url);
      say(NEXT);
    } catch (error) {
      throw new Error(`${messageOf(error)}\n  ${LOG} has what the functions logged`, { cause: error });
    } finally {
      await cloud.stop();
    }
  } finally {
    rmSync(assembly, { recursive: true, force: true });
  }
}

async function modernTasks(url: URL): Promise<void> {
  const client = new Client(info, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(url));
  try {
    title('1. deploy_service asks before it acts (a function, 2026-07-28)');
    await run(client, 'deploy_service', { service: 'checkout', region: 'eu-central-1', version: '2.4.0' });
    title('2. inspect_regions works in parallel (a state machine, 2026-07-28)');
    await run(client, 'inspect_regions', { regions: ['eu-central-1', 'eu-west-1', 'us-east-1', 'us-west-2'] });
  } finally {
    await client.close();
  }
}

async function legacyTask(url: URL): Promise<void> {
  title('3. profile_dataset works in steps (a function, the older revision, 2025-11-25)');
  const client = new Client1(info, { capabilities: {} });
  // The SDK's own transport types do not pass exactOptionalPropertyTypes.
  await client.connect(new Transport1(url) as Parameters<typeof client.connect>[0]);
  try {
    await run(client, 'profile_dataset', { columns: ['country', 'total', 'rating'] });
  } finally {
    await client.close();
  }
}

async function run(client: OfficialClient, tool: string, args: Readonly<Record<string, unknown>>): Promise<void> {
  const bar = progressBar();
  const { content, isError } = await callTask(client, tool, args, {
    onTask: (taskId) => note(`task ${taskId}`),
    onProgress: ({ message }) => message !== undefined && bar.show(message),
    onQuestion: confirm,
  });
  bar.end();
  if (isError === true) throw new Error(`${tool} returned an error: ${content[0]?.text}`);
  for (const block of content) if (block.text !== undefined) say(indent(block.text));
}

/** Answers like the person at the client. */
function confirm({ message }: Question) {
  say(`  ? ${message.replaceAll('\n', '\n    ')}\n  > yes`);
  return { action: 'accept', content: { confirm: true } } as const;
}

await main().catch((error) => {
  warn(`✗ ${messageOf(error)}\n`);
  process.exitCode = 1;
});
