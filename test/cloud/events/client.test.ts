import { execFile, spawn } from 'node:child_process';
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

/** The program `events-harness` of github.com/amansinghoriginal/drasi-mcp-events: a client and a receiver, in Rust. */
const { MCP_EVENTS_HARNESS: harness = '' } = process.env;

test.skipIf(harness === '')(
  'a client in Rust subscribes, echoes the challenge, gets task.finished (MCP_EVENTS_HARNESS)',
  async () => {
    const issuer = await startIssuer();
    onTestFinished(issuer.stop);
    const cloud = await startEventsCloud(issuer.url, { variables: RECEIVERS_HERE });
    onTestFinished(cloud.stop);
    const token = issuer.token();
    const free = createServer();
    const receiver = await listen(free, 0);
    await close(free);
    const secret = `whsec_${Buffer.alloc(32, 6).toString('base64')}`;
    const child = spawn(harness, ['webhook-recv', '--port', new URL(receiver).port, '--secret', secret]);
    onTestFinished(() => void child.kill());
    const lines: AsyncIterator<string> = createInterface(child.stdout)[Symbol.asyncIterator]();
    const line = async () => (await lines.next()).value;
    expect(await line()).toContain('webhook receiver listening');

    const folder = temporaryDir();
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const harnessed = async (...args: string[]) => {
      const all = ['--server', `${cloud.url}/mcp`, '--bearer', token, ...args];
      return (await promisify(execFile)(harness, all)).stdout;
    };
    const poll = () => harnessed('poll', '--name', 'task.finished', '--state-file', join(folder, 'cursor.json'));
    expect(await harnessed('list')).toMatch(/^task\.finished \[webhook, poll\]$/m);
    await poll();
    const target = ['--name', 'task.finished', '--url', `${receiver}/hook`];
    expect(await harnessed('subscribe', ...target, '--secret', secret)).toMatch(/^subscription id: sub_[0-9a-f]{32}$/m);
    expect(await line()).toMatch(/^\[control\] verification challenge \(sub=sub_[0-9a-f]{32}\); echoing$/);

    const params = { name: 'echo', arguments: { text: 'hello' } };
    const headers = { authorization: `Bearer ${token}` };
    await modernRequest(`${cloud.url}/mcp`, 'tools/call', params, { headers });
    const [, eventId, data] = /^\[task\.finished\] (evt_\w+) (.*)$/.exec(await line()) ?? [];
    expect(JSON.parse(data ?? '')).toMatchObject({ tool: 'echo', status: 'completed', taskId: expect.any(String) });
    expect(await poll()).toContain(`[task.finished] ${eventId} `);
    expect(await harnessed('unsubscribe', ...target)).toContain('unsubscribed task.finished');
  },
);
