import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../../functions/tasks/limits.ts';
import { close, listen, synthApp } from '../../../local/testing.ts';
import { modernRequest } from '../../support/clients.ts';
import { type Spread, spread } from '../cloud/measure.ts';
import { startProcess } from '../cloud/server.ts';

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const GIVE_UP_MS = 30_000;
/** Before the first one that counts: all functions run then. */
const WARM_TASKS = 20;
/** Owners at the same moment: each waits for its event before the next one begins. */
const AT_ONCE = 4;

interface Options {
  /** In ms. */
  readonly hold: number;
  readonly tasks: number;
}

interface Heard {
  readonly at: number;
  readonly happenedAt: number;
}

/**
 * From the end of a task, or of its hold, until its event reaches its receiver, in ms. Each task has an owner, a subscription and a
 * receiver's path of its own.
 */
export async function measureDeliveries(options: Options): Promise<Spread> {
  const assembly = mkdtempSync(join(tmpdir(), 'mcp-bench-deliveries-'));
  const heard = new Map<string, (occurrence: Heard) => void>();
  const receiver = createServer(async (request, response) => {
    const body = JSON.parse(await text(request));
    if (body.type === 'verification') return void response.end(JSON.stringify({ challenge: body.challenge }));
    heard.get(String(request.url))?.({ at: Date.now(), happenedAt: Date.parse(body.timestamp) });
    response.writeHead(204).end();
  });
  try {
    process.env.MCP_BENCH_HOLD = String(options.hold);
    await synthApp('test/bench/deliveries/app.ts', assembly);
    const cloud = await startProcess(assembly);
    try {
      return spread(await delaysOf(options, cloud.url, await listen(receiver, 0), heard));
    } finally {
      await cloud.stop();
    }
  } finally {
    delete process.env.MCP_BENCH_HOLD;
    await close(receiver);
    rmSync(assembly, { recursive: true, force: true });
  }
}

async function delaysOf(
  { hold, tasks }: Options,
  url: string,
  receiver: string,
  heard: Map<string, (occurrence: Heard) => void>,
): Promise<number[]> {
  const send = async (owner: string, method: string, params: Record<string, unknown>) => {
    const signed = `Credential=${owner.slice(1)}/20260409/us-east-1/execute-api/aws4_request, SignedHeaders=host, Signature=0`;
    const { body } = await modernRequest(url, method, params, {
      headers: { authorization: `AWS4-HMAC-SHA256 ${signed}` },
    });
    if (body.error !== undefined) throw new Error(JSON.stringify(body.error));
  };
  const owners = Array.from({ length: WARM_TASKS + tasks }, (_, index) => `/owner-${index}`);
  await inTurns(owners, (owner) => {
    const delivery = { mode: 'webhook', url: receiver + owner, secret: SECRET };
    return send(owner, 'events/subscribe', { name: 'task.finished', delivery });
  });
  // A container that has noted the request above notes the next one after this time.
  if (hold > 0) await sleep(limits.mcpEvents.seen.every);
  const delays: number[] = [];
  await inTurns(owners, async (owner) => {
    const sentAt = Date.now();
    const { promise, resolve, reject } = Promise.withResolvers<Heard>();
    heard.set(owner, resolve);
    const timer = setTimeout(() => reject(new Error(`no event of ${owner}`)), GIVE_UP_MS + hold);
    await send(owner, 'tools/call', { name: 'short', arguments: {} });
    const { at, happenedAt } = await promise.finally(() => clearTimeout(timer));
    delays.push(at - Math.max(happenedAt, sentAt + hold));
  });
  return delays.slice(WARM_TASKS);
}

async function inTurns(owners: readonly string[], act: (owner: string) => Promise<void>): Promise<void> {
  const left = [...owners];
  const caller = async () => {
    for (let owner = left.shift(); owner !== undefined; owner = left.shift()) await act(owner);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, caller));
}
