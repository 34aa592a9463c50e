import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { challenge } from '../../functions/events/post/challenge.ts';
import { postSigned } from '../../functions/events/post/post.ts';

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const page = readFileSync('docs/events.md', 'utf8');
const [, code = ''] = /```js\n\/\/ receiver\.mjs\n(.*?)```/s.exec(page) ?? [];

// In the repository: Node finds the library there.
const folder = mkdtempSync(join('node_modules', '.receiver-'));
let receiver: ChildProcess | undefined;
let url = '';
let printed = '';

beforeAll(async () => {
  const port = await freePort();
  url = `http://127.0.0.1:${port}/mcp-events`;
  const file = join(folder, 'receiver.mjs');
  writeFileSync(file, code.replace('server.listen(process.env.PORT)', "server.listen(process.env.PORT, '127.0.0.1')"));
  receiver = spawn(process.execPath, [file], { env: { ...process.env, SECRET, PORT: String(port) } });
  receiver.stdout?.on('data', (text) => (printed += text));
  while ((await postTo(SECRET, 'evt_0', {})) === 'connection_refused');
});
afterAll(() => {
  receiver?.kill();
  rmSync(folder, { recursive: true });
});

function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    }),
  );
}

async function postTo(secret: string, eventId: string, data: object) {
  const body = JSON.stringify({ eventId, name: 'task.finished', data });
  const post = { url, secrets: [secret], webhookId: eventId, subscriptionId: 'sub_1', body };
  const answer = await postSigned(post, { loopback: true });
  return 'status' in answer ? answer.status : answer.error;
}

test('the receiver of docs/events.md has about 20 lines', () => {
  expect(code.trim().split('\n').length).toBeLessThan(24);
});

test('it answers the challenge, takes an event once, and refuses another signature', async () => {
  const receiver = { url, secret: SECRET, subscriptionId: 'sub_1' };
  expect(await challenge(receiver, { loopback: true })).toBeUndefined();
  expect(await postTo(SECRET, 'evt_1', { taskId: 't1' })).toBe(204);
  expect(await postTo(SECRET, 'evt_1', { taskId: 't1' })).toBe(204);
  const other = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
  expect(await postTo(other, 'evt_2', { taskId: 't2' })).toBe(401);
  expect(printed.match(/task\.finished t\d/g)).toEqual(['task.finished t1']);
});
