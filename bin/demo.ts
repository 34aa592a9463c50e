import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { callTask, type OfficialClient, type Question } from 'mcp-task-server/client';
import { type Cloud, startCloud } from 'mcp-task-server-local';
import { messageOf } from '../local/command.ts';
import { synthApp } from '../local/template/synth.ts';
import { functionLogs } from './demo/logs.ts';
import { type Message, type OtherSystems, startOtherSystems } from './demo/other-systems.ts';
import { indent, note, progressBar, say, title, warn } from './demo/print.ts';

const info = { name: 'mcp-task-server-demo', version: '1.0.0' };
const LOG = 'demo.log';
const HOUR = 3_600_000;
const NEXT = `
Done: four tasks, two protocol revisions, one record each. Next:
  npm run dev        serves these tools and a page with their tasks, and follows what you save
  README.md          "Add a tool": your own tool, from an empty file to its result
  docs/long-work.md  tools that work or wait for days: which way is yours
  docs/clients.md    how to connect Claude Code, VS Code and other clients
  ${LOG}           what the functions logged`;

/** `npm run demo`: real tasks, end to end, through the stack that `cdk deploy` would create. Its clock skips the waits. */
async function main(): Promise<void> {
  const { verbose } = parseArgs({ options: { verbose: { type: 'boolean', default: false } } }).values;
  const assembly = mkdtempSync(join(tmpdir(), 'mcp-demo-'));
  const others = await startOtherSystems();
  try {
    note('Synthesizing bin/app.ts …');
    Object.assign(process.env, others.env);
    await synthApp('bin/app.ts', assembly);
    const onLog = functionLogs({ file: LOG, verbose, show: warn });
    const cloud = await startCloud({ assembly, onLog, movableClock: true });
    try {
      const url = new URL(`${cloud.url}/mcp`);
      note(`The stack runs at ${url}`);
      await modernTasks(url, cloud, others);
      await legacyTask(url);
      say(NEXT);
    } catch (error) {
      throw new Error(`${messageOf(error)}\n  ${LOG} has what the functions logged`, { cause: error });
    } finally {
      await cloud.stop();
    }
  } finally {
    await others.stop();
    rmSync(assembly, { recursive: true, force: true });
  }
}

async function modernTasks(url: URL, cloud: Cloud, others: OtherSystems): Promise<void> {
  const client = new Client(info, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(url));
  try {
    title('1. approve_purchase asks its client, then a person with a link (a function, 2026-07-28)');
    const mail = others.next('/mail');
    const purchase = { item: 'a standing desk', euros: 420 };
    await run(client, 'approve_purchase', purchase, async () => approve(await mail, cloud));
    title('2. nightly_report works in steps, then sleeps until six (a function, 2026-07-28)');
    await run(client, 'nightly_report', {}, (until) => skip(cloud, until - cloud.clock.now()));
    title('3. train_model waits for another system to call back (a function, 2026-07-28)');
    const job = others.next('/jobs');
    await run(client, 'train_model', { dataset: 'orders-2026' }, async () => callBack(await job, cloud));
  } finally {
    await client.close();
  }
}

/** Does what the reader of the mail does: opens the page, reads it, fills in its form. */
async function approve({ to, text = '' }: Message, cloud: Cloud): Promise<void> {
  say(`  Mail to ${to}: ${text}`);
  await skip(cloud, 30 * HOUR);
  const [link = ''] = /http\S+/.exec(text) ?? [];
  const page = await (await fetch(link)).text();
  const [, question = ''] = /<p class="message">(.*?)<\/p>/s.exec(page) ?? [];
  say(`  The page of the link: ${question}\n  > Accept, with a note: Good for the back`);
  const body = new URLSearchParams({ f0: 'Good for the back', by: 'Ann', action: 'accept' });
  await fetch(link, { method: 'POST', body });
}

/** Does what the other system does when its job has ended. */
async function callBack({ dataset, callback = '' }: Message, cloud: Cloud): Promise<void> {
  say(`  The other system trains on ${dataset}`);
  await skip(cloud, 5 * HOUR);
  say(`  It calls back: POST ${callback}`);
  const body = JSON.stringify({ model: 'orders-2026-7', accuracy: 0.93 });
  await fetch(callback, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}

/** Moves the clock of the cloud, and lets what is due begin. */
async function skip(cloud: Cloud, ms: number): Promise<void> {
  say(`  (${Math.round(ms / HOUR)} hours pass)`);
  cloud.clock.advance(ms);
  await cloud.schedules.fire();
}

async function legacyTask(url: URL): Promise<void> {
  title('4. inspect_regions works in parallel (a state machine, the older revision, 2025-11-25)');
  const client = new Client1(info, { capabilities: {} });
  // The SDK's own transport types do not pass exactOptionalPropertyTypes.
  await client.connect(new Transport1(url) as Parameters<typeof client.connect>[0]);
  try {
    await run(client, 'inspect_regions', { regions: ['eu-central-1', 'eu-west-1', 'us-east-1', 'us-west-2'] });
  } finally {
    await client.close();
  }
}

/** Calls a tool. @param onWait what happens while its task waits until a time, in ms since the epoch */
async function run(
  client: OfficialClient,
  tool: string,
  args: Readonly<Record<string, unknown>>,
  onWait: (until: number) => Promise<void> = async () => {},
): Promise<void> {
  const show = progressBar();
  const failed = new AbortController();
  const { content, isError } = await callTask(client, tool, args, {
    signal: failed.signal,
    onTask: (taskId) => note(`task ${taskId}`),
    onProgress({ message }) {
      if (message === undefined) return;
      show(message);
      const [, until] = /^(?:Sleeping|Waiting for .*) until (\S+Z)$/.exec(message) ?? [];
      if (until !== undefined) onWait(Date.parse(until)).catch((error) => failed.abort(error));
    },
    onQuestion: answer,
  });
  if (isError === true) throw new Error(`${tool} returned an error: ${content[0]?.text}`);
  for (const block of content) if (block.text !== undefined) say(indent(block.text));
}

/** Answers like the person at the client. */
function answer({ message }: Question) {
  say(`  ? ${message}\n  > ann@example.com`);
  return { action: 'accept', content: { approver: 'ann@example.com' } } as const;
}

await main().catch((error) => {
  warn(`✗ ${messageOf(error)}\n`);
  process.exitCode = 1;
});
