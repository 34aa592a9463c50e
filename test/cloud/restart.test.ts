import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, inject, test } from 'vitest';
import { legacySession, modernRequest, runTask } from '../support/clients.ts';

const data = mkdtempSync(join(tmpdir(), 'mcp-restart-'));
const running: ChildProcess[] = [];
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(data, { recursive: true, force: true });
});

/** The command people run, on a free port. */
async function start(): Promise<{ url: string; child: ChildProcess }> {
  const args = ['bin/local.ts', '--port', '0', '--data', data, '--assembly', inject('assembly')];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  running.push(child);
  let output = '';
  child.stderr.on('data', (chunk) => (output += chunk));
  for await (const chunk of child.stdout) {
    output += chunk;
    const url = /^ready (\S+)$/m.exec(output)?.[1];
    if (url !== undefined) {
      child.stdout.resume();
      return { url, child };
    }
  }
  throw new Error(`It did not start:\n${output}`);
}

test('killed and started again on the same data, it serves the finished tasks of before, and sessions go on', async () => {
  const before = await start();
  const task = await runTask(before.url, 'echo', { kept: true });
  const legacy = await legacySession(before.url);
  before.child.kill('SIGKILL');
  await once(before.child, 'exit');

  const after = await start();
  const { body } = await modernRequest(after.url, 'tasks/get', { taskId: task.taskId });
  expect(body.result).toEqual(task);
  const headers = {
    'content-type': 'application/json',
    'mcp-session-id': legacy.session,
    'mcp-protocol-version': '2025-11-25',
  };
  const ping = await fetch(after.url, { method: 'POST', headers, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' });
  expect(ping.status).toBe(200);
}, 60_000);
