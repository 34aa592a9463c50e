import { execFile, type SpawnOptionsWithoutStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { RECEIVERS_HERE } from '../../../local/marks.ts';
import { temporaryDir } from '../../../local/test/fixture.ts';
import { close, listen } from '../../../local/testing.ts';
import { modernRequest } from '../../support/clients.ts';
import { startEventsCloud } from '../../support/oauth-cloud.ts';
import { startIssuer } from '../../support/oidc.ts';

/**
 * The program `events-harness` of github.com/amansinghoriginal/drasi-mcp-events, in Rust: a client and a receiver.
 * `dist/src/cli.js` of github.com/loveaihq/evdock: it runs a command for each event.
 */
const { MCP_EVENTS_HARNESS: harness = '', EVDOCK: evdock = '' } = process.env;

async function startCloud() {
  const logged: string[] = [];
  const issuer = await startIssuer();
  onTestFinished(issuer.stop);
  const onLog = (_source: string, line: string) => void logged.push(line);
  const cloud = await startEventsCloud(issuer.url, { variables: RECEIVERS_HERE, onLog });
  onTestFinished(cloud.stop);
  const [url, token] = [`${cloud.url}/mcp`, issuer.token()];
  const free = createServer();
  const receiver = await listen(free, 0);
  await close(free);
  const folder = temporaryDir();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const finishTask = async () => {
    const params = { name: 'echo', arguments: { text: 'hello' } };
    await modernRequest(url, 'tools/call', params, { headers: { authorization: `Bearer ${token}` } });
  };
  return { url, token, receiver, folder, finishTask, logged };
}

/** Starts a program. Its `line` resolves to the next line that it prints. */
function startProgram(file: string, args: readonly string[], options: SpawnOptionsWithoutStdio = {}) {
  const child = spawn(file, args, options);
  const ended = once(child, 'exit');
  const stop = async () => {
    child.kill();
    await ended;
  };
  onTestFinished(stop);
  const lines: AsyncIterator<string> = createInterface(child.stdout)[Symbol.asyncIterator]();
  const line = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`${file} ended`);
    return value;
  };
  return { line, stop };
}

test.skipIf(harness === '')(
  'a client in Rust subscribes, echoes the challenge, gets task.finished (MCP_EVENTS_HARNESS)',
  async () => {
    const { url, token, receiver, folder, finishTask } = await startCloud();
    const secret = `whsec_${Buffer.alloc(32, 6).toString('base64')}`;
    const { line } = startProgram(harness, ['webhook-recv', '--port', new URL(receiver).port, '--secret', secret]);
    expect(await line()).toContain('webhook receiver listening');

    const harnessed = async (...args: string[]) => {
      const all = ['--server', url, '--bearer', token, ...args];
      return (await promisify(execFile)(harness, all)).stdout;
    };
    const poll = () => harnessed('poll', '--name', 'task.finished', '--state-file', join(folder, 'cursor.json'));
    expect(await harnessed('list')).toMatch(/^task\.finished \[webhook, poll\]$/m);
    await poll();
    const target = ['--name', 'task.finished', '--url', `${receiver}/hook`];
    expect(await harnessed('subscribe', ...target, '--secret', secret)).toMatch(/^subscription id: sub_[0-9a-f]{32}$/m);
    expect(await line()).toMatch(/^\[control\] verification challenge \(sub=sub_[0-9a-f]{32}\); echoing$/);

    await finishTask();
    const [, eventId, data] = /^\[task\.finished\] (evt_\w+) (.*)$/.exec(await line()) ?? [];
    expect(JSON.parse(data ?? '')).toMatchObject({ tool: 'echo', status: 'completed', taskId: expect.any(String) });
    expect(await poll()).toContain(`[task.finished] ${eventId} `);
    expect(await harnessed('unsubscribe', ...target)).toContain('unsubscribed task.finished');
  },
);

test.skipIf(evdock === '')(
  'evdock runs its command for task.finished, also for one that it was away for (EVDOCK)',
  async () => {
    const { url, token, receiver, folder, finishTask, logged } = await startCloud();
    const options = { cwd: folder, env: { ...process.env, TASKS_TOKEN: token } };
    const run = async (...args: string[]) =>
      (await promisify(execFile)(process.execPath, [evdock, ...args], options)).stdout;
    const serve = () => {
      const port = new URL(receiver).port;
      const { line, stop } = startProgram(process.execPath, [evdock, 'serve', '--port', port], options);
      const until = async (pattern: RegExp): Promise<string> => {
        const next = await line();
        return pattern.test(next) ? next : until(pattern);
      };
      return { until, stop };
    };

    const first = serve();
    await first.until(/^evdock receiving on /);
    await run('server', 'add', 'tasks', '--url', url, '--token-env', 'TASKS_TOKEN');
    expect(await run('events', 'tasks')).toMatch(/^task\.finished {2}\[webhook, poll\]$/m);
    const subscribed = await run('subscribe', 'tasks', 'task.finished', '--callback-base', receiver);
    const [, id = ''] = /^subscribed (sub_[0-9a-f]{32}) to task\.finished on tasks,/.exec(subscribed) ?? [];
    await first.until(/ 200 verification hook=/);
    const print = 'process.stdout.write(require("node:fs").readFileSync(0) + "\\n")';
    await run('action', 'set', id, '--window', '0', '--', process.execPath, '-e', print);

    await finishTask();
    const body = { name: 'task.finished', data: { tool: 'echo', status: 'completed', taskId: expect.any(String) } };
    const isBatch = /^\{.*\}$/;
    expect(JSON.parse(await first.until(isBatch))).toMatchObject({
      subscription: { id },
      messages: [{ seq: 1, body }],
    });
    await first.until(/ done in /);
    await first.stop();

    await finishTask();
    await expect.poll(() => logged.join()).toContain('"error":"connection_refused"');
    const second = serve();
    await second.until(new RegExp(` resubscribed ${id} until `));
    expect(JSON.parse(await second.until(isBatch))).toMatchObject({
      subscription: { id },
      messages: [{ seq: 2, body }],
    });
    expect(await run('unsubscribe', id)).toBe(`unsubscribed ${id}\n`);
    expect(await run('subscriptions')).toContain(`${id}  unsubscribed  tasks/task.finished`);
  },
);
