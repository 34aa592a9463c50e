import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { callTask, type OfficialClient, type Question } from 'mcp-task-server/client';
import { startCloud } from 'mcp-task-server-local';
import { synthApp } from '../local/template/synth.ts';
import { indent, note, progressBar, title } from './demo/print.ts';

const info = { name: 'mcp-task-server-demo', version: '1.0.0' };

/** `npm run demo`: three real tasks, end to end, through the stack that `cdk deploy` would create. */
async function main(): Promise<void> {
  const assembly = mkdtempSync(join(tmpdir(), 'mcp-demo-'));
  try {
    note('Synthesizing bin/app.ts …');
    await synthApp('bin/app.ts', assembly);
    const cloud = await startCloud({ assembly, onLog: (source, line) => console.error(`${source}: ${line}`) });
    try {
      const url = new URL(`${cloud.url}/mcp`);
      note(`The stack runs at ${url}`);
      await modernTasks(url);
      await legacyTask(url);
      title('Done: three tasks, two protocol revisions, one record each.');
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
    title('1. profile_dataset, 2026-07-28: 100,000 rows');
    await run(client, 'profile_dataset', { sample: 'orders' });
    title('2. deploy_service, 2026-07-28: asks before it acts');
    await run(client, 'deploy_service', { service: 'checkout', region: 'eu-central-1', version: '2.4.0' });
  } finally {
    await client.close();
  }
}

async function legacyTask(url: URL): Promise<void> {
  title('3. profile_dataset, 2025-11-25: the older revision, same server');
  const client = new Client1(info, { capabilities: {} });
  // The SDK's own transport types do not pass exactOptionalPropertyTypes.
  await client.connect(new Transport1(url) as Parameters<typeof client.connect>[0]);
  try {
    const rows = Array.from({ length: 2_000 }, (_, i) => `town-${i % 50},${1_000 + i * 7}`);
    await run(client, 'profile_dataset', { csv: `city,population\n${rows.join('\n')}` });
  } finally {
    await client.close();
  }
}

async function run(client: OfficialClient, tool: string, args: Record<string, string>): Promise<void> {
  const bar = progressBar();
  const { content, isError } = await callTask(client, tool, args, {
    onTask: (taskId) => note(`task ${taskId}`),
    onProgress: ({ message }) => message !== undefined && bar.show(message),
    onQuestion: confirm,
  });
  bar.end();
  if (isError === true) throw new Error(`The tool reported an error: ${content[0]?.text}`);
  for (const block of content) if (block.text !== undefined) console.log(indent(block.text));
}

/** Stands in for the person at the client. */
function confirm({ message }: Question) {
  console.log(`\n  ? ${message.replaceAll('\n', '\n    ')}`);
  console.log('  > yes');
  return { action: 'accept', content: { confirm: true } } as const;
}

await main();
