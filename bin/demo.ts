import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resultFromTaskOutcome, taskViewFromExecutionEvent } from '@modelcontextprotocol/ext-tasks/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { startCloud } from '../local/cloud.ts';
import { synthApp } from '../local/synth.ts';
import { indent, note, progressBar, title } from './demo/print.ts';
import { type AskPerson, openTaskSession } from './demo/task-session.ts';

/** `npm run demo`: three real tasks, end to end, through the stack that `cdk deploy` would create. */
async function main(): Promise<void> {
  const assembly = mkdtempSync(join(tmpdir(), 'mcp-demo-'));
  try {
    note('Synthesizing bin/app.ts …');
    await synthApp('bin/app.ts', assembly);
    const cloud = await startCloud({ assembly, onLog: (source, line) => console.error(`${source}: ${line}`) });
    try {
      const url = `${cloud.url}/mcp`;
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

async function modernTasks(url: string): Promise<void> {
  const { session, close } = await openTaskSession(url, confirm);
  try {
    title('1. profile_dataset, 2026-07-28: 100,000 rows');
    await run(session, 'profile_dataset', { sample: 'orders' });
    title('2. deploy_service, 2026-07-28: asks before it acts');
    await run(session, 'deploy_service', { service: 'checkout', region: 'eu-central-1', version: '2.4.0' });
  } finally {
    await close();
  }
}

async function run(
  session: Awaited<ReturnType<typeof openTaskSession>>['session'],
  tool: string,
  args: Record<string, string>,
) {
  const execution = await session.callTool(tool, args);
  note(`task ${execution.handle?.taskId}`);
  const bar = progressBar();
  const { outcome } = await execution.settle({
    onEvent(event) {
      const view = taskViewFromExecutionEvent(event);
      if (view?.statusMessage !== undefined) bar.show(view.statusMessage);
    },
  });
  bar.end();
  printResult(resultFromTaskOutcome(outcome));
}

/** Stands in for the person at the client. */
const confirm: AskPerson = ({ params }) => {
  console.log(`\n  ? ${String(params.message).replaceAll('\n', '\n    ')}`);
  console.log('  > yes');
  return { action: 'accept', content: { confirm: true } };
};

async function legacyTask(url: string): Promise<void> {
  title('3. profile_dataset, 2025-11-25: the older revision, same server');
  const client = new Client({ name: 'mcp-task-server-demo', version: '1.0.0' }, { capabilities: {} });
  // The SDK's own transport types do not pass exactOptionalPropertyTypes.
  await client.connect(new StreamableHTTPClientTransport(new URL(url)) as Parameters<typeof client.connect>[0]);
  await client.listTools();
  const bar = progressBar();
  const csv = `city,population\n${Array.from({ length: 2_000 }, (_, i) => `town-${i % 50},${1_000 + i * 7}`).join('\n')}`;
  const stream = client.experimental.tasks.callToolStream(
    { name: 'profile_dataset', arguments: { csv } },
    CallToolResultSchema,
    { task: { ttl: 600_000 } },
  );
  try {
    for await (const message of stream) {
      if (message.type === 'taskCreated') note(`task ${message.task.taskId}`);
      if (message.type === 'taskStatus') bar.show(message.task.statusMessage ?? message.task.status);
      if (message.type === 'error') throw message.error;
      if (message.type === 'result') {
        bar.end();
        printResult(message.result);
      }
    }
  } finally {
    await client.close();
  }
}

function printResult(result: unknown): void {
  const { content, isError } = result as { content: { type: string; text?: string }[]; isError?: boolean };
  if (isError === true) throw new Error(`The tool reported an error: ${content[0]?.text}`);
  for (const block of content) if (block.text !== undefined) console.log(indent(block.text));
}

await main();
