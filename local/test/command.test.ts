import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { functionResource, serverResources, tableResource, temporaryDir, writeAssembly } from './fixture.ts';

const assets = { code: 'export const handler = async () => 1;' };
const assembly = writeAssembly({ resources: { ...serverResources(), Table: tableResource() }, assets });
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

function start(...flags: string[]) {
  const child = spawn(process.execPath, ['bin/local.ts', ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  const done = Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { child, done: done.then(([out, err, [code]]) => ({ out, err, code: code as number | null })) };
}

test.each(['SIGINT', 'SIGTERM'] as const)('is ready, says how to connect, and ends on %s', async (signal) => {
  const { child, done } = start('--port', '0', '--assembly', assembly, '--data', temporaryDir());
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const url = /^ready (http:\/\/127\.0\.0\.1:\d+\/mcp)$/m.exec(line.toString())?.[1];
  expect(url).toBeDefined();
  expect((await fetch(url ?? '')).status).toBe(403);
  child.kill(signal);
  const { out, err, code } = await done;
  expect([err, code]).toEqual(['', 0]);
  expect(out).toContain(`claude mcp add --transport http tasks ${url}`);
});

test('says which tools cannot run here and what is left alone, and serves the others', async () => {
  const resources = {
    ...serverResources({ old: { handler: 'Old' } }),
    Old: functionResource('code', { Runtime: 'java25' }),
    Topic: { Type: 'AWS::SNS::Topic' },
  };
  const { child, done } = start('--port', '0', '--assembly', writeAssembly({ resources, assets }));
  await once(child.stdout, 'data');
  child.kill('SIGINT');
  const { out, err } = await done;
  expect(err).toMatch(
    /^✗ tool 'old' cannot run here: .* Runtime "java25" of AWS::Lambda::Function \(stack Test, Old\)\n$/,
  );
  expect(out).toContain('left alone: 1 resources (AWS::SNS)');
});

test.each([[['--unknown']], [['--port', 'x']], [['--concurrency', '0']], [['positional']]])(
  'prints its usage for %j',
  async (flags) => {
    const { err, code } = await start(...flags).done;
    expect(code).toBe(2);
    expect(err).toContain('usage: npm start');
  },
);

test('says that the port is in use', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  const { err, code } = await start('--port', String(port), '--assembly', assembly).done;
  other.close();
  expect([err, code]).toEqual([`port ${port} is in use: choose another one with --port\n`, 1]);
});

test('shows the error of an app that fails', async () => {
  const app = join(temporaryDir(), 'app.ts');
  writeFileSync(app, 'const problem: string = "no such construct"; throw new Error(problem);');
  const { err, code } = await start('--port', '0', '--app', app).done;
  expect(code).toBe(1);
  expect(err).toContain('Error: no such construct');
  expect(err).toContain(`${app} failed (1)`);
});
