import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCloud } from '../../local/cloud.ts';
import { synthApp } from '../../local/testing.ts';
import { legacySession, openStream } from '../support/clients.ts';

/**
 * `node test/bench/long-result.ts [steps] [hold]`: one tasks/result that waits for a task of so many seconds with a hold
 * cap of so many, through resumes, with the endpoint's workers killed after every third. Prints what it took; exits 1
 * unless the answer came exactly once and is right.
 */
const [steps = 170, hold = 10] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), 'mcp-long-'));
process.env.MCP_TEST_BRIEF = String(hold);
await synthApp('test/support/apps/app.ts', folder);
const cloud = await startCloud({ assembly: folder });
try {
  const url = `${cloud.url}/mcp`;
  const endpoint =
    cloud.lambda.workers().find(({ functionName }) => functionName.includes('Endpoint'))?.functionName ?? '';
  const session = await legacySession(url);
  const created = await session.request('tools/call', {
    name: 'steps',
    arguments: { steps },
    task: { ttl: 3_600_000 },
  });
  const { taskId } = created.body.result.task;
  const started = Date.now();
  const answers: unknown[] = [];
  let streams = 0;
  let lastEventId: string | undefined;
  while (answers.length === 0 && streams < 1_000) {
    const resume = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
    const headers = { ...session.headers, ...resume };
    const body = { jsonrpc: '2.0', id: 'long', method: 'tasks/result', params: { taskId } };
    const stream =
      streams === 0 ? await openStream(url, body, headers) : await openStream(url, undefined, headers, 'GET');
    streams++;
    for await (const event of stream.events) {
      lastEventId = event.id ?? lastEventId;
      if (typeof event.data === 'object' && event.data !== null && 'result' in event.data) answers.push(event.data);
    }
    if (streams % 3 === 0) cloud.lambda.kill(endpoint);
  }
  const seconds = Math.round((Date.now() - started) / 1_000);
  console.log(`waited ${seconds} s through ${streams} streams of ${hold} s; answers: ${JSON.stringify(answers)}`);
  process.exitCode = answers.length === 1 && JSON.stringify(answers[0]).includes('"text":"done"') ? 0 : 1;
} finally {
  await cloud.stop();
  rmSync(folder, { recursive: true, force: true });
}
