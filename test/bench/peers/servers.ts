import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { NoToolchain, prepare } from '../../clients/prepare.ts';
import { startProcess } from '../cloud/server.ts';

export interface Peer {
  readonly name: string;
  readonly url: string;
  readonly revision: '2026-07-28' | '2025-11-25';
  stop(): Promise<void>;
}

/** The embedded cloud, with its data on disk or in memory. */
export async function ours(assembly: string, onDisk: boolean): Promise<Peer> {
  const folder = onDisk ? mkdtempSync(join(tmpdir(), 'mcp-bench-peers-')) : undefined;
  const cloud = await startProcess(assembly, folder);
  return {
    name: `embedded cloud, ${onDisk ? 'on disk' : 'in memory'}`,
    url: cloud.url,
    revision: '2026-07-28',
    async stop() {
      await cloud.stop();
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function officialSdk(): Promise<Peer> {
  const port = await freePort();
  const stop = await start(process.execPath, [join(import.meta.dirname, 'sdk.ts'), String(port)], port);
  const name = 'TypeScript SDK 1.32.2, in memory';
  return { name, url: `http://127.0.0.1:${port}/mcp`, revision: '2025-11-25', stop };
}

/** @param redis the URL of a server @default in memory. Undefined when this machine cannot run FastMCP. */
export async function fastMcp(redis?: string): Promise<Peer | undefined> {
  try {
    const folder = { name: '', folder: 'fastmcp-4', era: '2026-07-28', toolchain: 'python', steps: [] } as const;
    const { file } = await prepare(folder);
    const port = await freePort();
    const script = join(import.meta.dirname, 'fastmcp_server.py');
    const stop = await start(file, [script, String(port), redis ?? 'memory://'], port);
    const name = `FastMCP 4.1.2 with docket, ${redis === undefined ? 'in memory' : 'Redis'}`;
    return { name, url: `http://127.0.0.1:${port}/mcp`, revision: '2026-07-28', stop };
  } catch (error) {
    if (error instanceof NoToolchain) return undefined;
    throw error;
  }
}

/** A Redis of the machine's packages that keeps nothing on disk. Undefined when there is none. */
export async function startRedis(): Promise<{ readonly url: string; stop(): Promise<void> } | undefined> {
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const stop = await start(process.env.REDIS_SERVER ?? 'redis-server', args, port).catch(() => undefined);
  return stop && { url: `redis://127.0.0.1:${port}/0`, stop };
}

/** Waits until the process listens. Returns what ends it. */
async function start(file: string, args: readonly string[], port: number): Promise<() => Promise<void>> {
  const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const failed = once(child, 'error').then(([error]) => Promise.reject(error));
  await Promise.race([listens(child, port), failed]);
  return async () => {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
}

async function listens(child: ChildProcess, port: number): Promise<void> {
  for (let tries = 0; tries < 600 && child.exitCode === null; tries++) {
    const answered = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      // Redis answers, but not in HTTP.
      (error: { cause?: { code?: string } }) => error.cause?.code !== 'ECONNREFUSED',
    );
    if (answered) return;
    await sleep(100);
  }
  throw new Error('the server does not listen');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}
