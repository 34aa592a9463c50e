import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { modernRequest } from '../../../support/clients.ts';
import { useCloud } from '../../../support/cloud.ts';
import { COMMAND, environment } from './client.ts';

const cloud = useCloud();
const message = (id: number, method: string, params: object) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;

test('writes nothing but protocol to stdout, and ends when stdin does', async () => {
  const args = [COMMAND, 'tasks', 'mcp', '--stack', cloud().stacks[0] ?? '', '--allow-writes'];
  const server = spawn(process.execPath, args, { env: environment(cloud()) });
  const [out, err] = [text(server.stdout), text(server.stderr)];
  const lines: string[] = [];
  const answered = new Promise<void>((resolve) => {
    server.stdout.on('data', (chunk: Buffer) => {
      lines.push(chunk.toString());
      if (lines.join('').includes('"id":3')) resolve();
    });
  });
  const clientInfo = { name: 'test', version: '1' };
  server.stdin.write(message(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }));
  server.stdin.write('this is not JSON\n');
  server.stdin.write(message(2, 'tools/list', {}));
  const { body } = await modernRequest(`${cloud().url}/mcp`, 'tools/call', { name: 'ask', arguments: {} });
  const input = { taskId: body.result.taskId, reason: 'test' };
  server.stdin.write(message(3, 'tools/call', { name: 'cancel_task', arguments: input }));
  await answered;
  server.stdin.end();
  const [code] = await once(server, 'exit');
  expect(code).toBe(0);
  const ids = (await out)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { jsonrpc: string; id?: number });
  expect(ids.map(({ jsonrpc }) => jsonrpc)).toEqual(ids.map(() => '2.0'));
  expect(ids.flatMap(({ id }) => (id === undefined ? [] : [id])).toSorted()).toEqual([1, 2, 3]);
  expect(lines.join('')).toContain('"done":true');
  expect(await err).toContain('serves MCP on stdin and stdout, with writes');
  expect(await err).toContain('"action":"operator_cancel"');
});

test('refuses other options and words by name', async () => {
  for (const [args, sentence] of [
    [['--reason', 'x'], "Unknown option '--reason'. The options of mcp: --stack"],
    [['x'], "mcp takes options only, not 'x'"],
  ] as const) {
    await expect(promisify(execFile)(process.execPath, [COMMAND, 'tasks', 'mcp', ...args])).rejects.toMatchObject({
      ...{ code: 2, stdout: '', stderr: expect.stringContaining(sentence) },
    });
  }
});

test('says what to install if the package of the SDK is missing', async () => {
  const hooks = `import { registerHooks } from 'node:module';
    registerHooks({ resolve: (name, context, next) => next(name.replace('protocol/server', 'protocol/missing'), context) });`;
  const args = ['--import', `data:text/javascript,${encodeURIComponent(hooks)}`, COMMAND, 'tasks', 'mcp'];
  await expect(promisify(execFile)(process.execPath, args)).rejects.toMatchObject({
    ...{ code: 1, stdout: '', stderr: expect.stringContaining('npm install --save-dev @modelcontextprotocol/server') },
  });
});
