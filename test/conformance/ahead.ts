import { strict as assert } from 'node:assert';
import { legacySession, modernMessage, modernRequest, openStream, post, type SseEvent } from '../support/clients.ts';
import type { Revision } from './scenarios.ts';
import type { Outcome } from './verdict.ts';

/**
 * Checks that open pull requests of the official suite will make, as far as they are known today: by the name of their
 * scenario, and by the rule of docs/protocol.md. Each answer is also checked by the published schemas. Remove a row once
 * the suite has it.
 */
interface Ahead {
  readonly name: string;
  readonly pull: number;
  readonly rule: string;
  readonly revision: Revision;
  readonly run: (url: string) => Promise<void>;
}

const LEGACY = '2025-11-25';
const MODERN = '2026-07-28';
const slow = (seconds: number) => ({ name: 'slow_compute', arguments: { seconds } });
const call = (id: unknown, params: object) => ({ jsonrpc: '2.0', id, method: 'tools/call', params });
const cancelled = (requestId: unknown) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
});

async function messagesOf(events: AsyncIterable<SseEvent>, on = async () => {}): Promise<Message[]> {
  const messages: Message[] = [];
  for await (const { data } of events) {
    if (data !== '') messages.push(data as Message);
    await on();
  }
  return messages;
}

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly progress: number; readonly progressToken: unknown };
  readonly result?: { readonly content: unknown };
}

async function progressIsInOrder(messages: Message[], token: unknown): Promise<void> {
  const reports = messages.filter(({ method }) => method === 'notifications/progress');
  assert.ok(reports.length > 0, 'no progress');
  assert.ok(
    reports.every(({ params }) => params?.progressToken === token),
    'another token',
  );
  const values = reports.map(({ params }) => params?.progress ?? 0);
  assert.ok(
    values.every((value, at) => at === 0 || value > (values[at - 1] ?? value)),
    `not increasing: ${values}`,
  );
  assert.ok(messages.at(-1)?.result !== undefined, 'progress after the answer');
}

export const ahead: readonly Ahead[] = [
  ...[LEGACY, MODERN].map(
    (revision): Ahead => ({
      ...{ name: 'json-rpc-batch-rejection', pull: 381, rule: 'A-03', revision: revision as Revision },
      async run(url) {
        const batch = [{ jsonrpc: '2.0', id: 1, method: 'ping' }];
        const { status, body } = await post(url, batch, { 'mcp-protocol-version': revision });
        assert.deepEqual([status, body.error.code], [400, -32600]);
      },
    }),
  ),
  {
    ...{ name: 'session-isolation', pull: 137, rule: 'B-11', revision: LEGACY },
    async run(url) {
      const sessions = await Promise.all([legacySession(url), legacySession(url)]);
      const answers = await Promise.all(
        sessions.map(async ({ headers }, at) => {
          const params = { ...slow(1), arguments: { seconds: 1, label: `session ${at}` } };
          return messagesOf((await openStream(url, call(1, params), headers)).events);
        }),
      );
      answers.forEach((messages, at) => {
        assert.match(JSON.stringify(messages), new RegExp(`session ${at}`));
        assert.doesNotMatch(JSON.stringify(messages), new RegExp(`session ${1 - at}`));
      });
    },
  },
  {
    ...{ name: 'server-protocol-version-header', pull: 241, rule: 'B-08', revision: LEGACY },
    async run(url) {
      const { headers } = await legacySession(url);
      const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
      const status = async (version: string | undefined) =>
        (await post(url, ping, { ...headers, 'mcp-protocol-version': version })).status;
      assert.deepEqual(await Promise.all([LEGACY, undefined, '1999-01-01', 'x'].map(status)), [200, 200, 400, 400]);
    },
  },
  {
    ...{ name: 'cancellation', pull: 436, rule: 'B-15', revision: LEGACY },
    async run(url) {
      const { headers, request } = await legacySession(url);
      const began = performance.now();
      const { events } = await openStream(url, call('to cancel', slow(20)), headers);
      const messages = await messagesOf(events, async () => {
        for (const id of ['to cancel', 'unknown']) assert.equal((await post(url, cancelled(id), headers)).status, 202);
      });
      assert.deepEqual(messages, []);
      assert.ok(performance.now() - began < 20_000, 'the call went on to its end');
      assert.deepEqual((await request('ping')).body.result, {});
    },
  },
  ...['text', 7].map(
    (token): Ahead => ({
      ...{ name: 'progress-notifications', pull: 436, rule: 'A-22', revision: LEGACY },
      async run(url) {
        const { headers } = await legacySession(url);
        const params = { name: 'test_tool_with_progress', _meta: { progressToken: token } };
        await progressIsInOrder(await messagesOf((await openStream(url, call(1, params), headers)).events), token);
      },
    }),
  ),
  {
    ...{ name: 'progress-notifications', pull: 436, rule: 'A-22', revision: MODERN },
    async run(url) {
      const { body, headers } = modernMessage('tools/call', { name: 'test_tool_with_progress' }, { capabilities: {} });
      const params = { ...body.params, _meta: { ...body.params._meta, progressToken: 7 } };
      await progressIsInOrder(await messagesOf((await openStream(url, { ...body, params }, headers)).events), 7);
    },
  },
  {
    ...{ name: 'http-stream-cancellation', pull: 438, rule: 'X-32', revision: MODERN },
    async run(url) {
      const { body, headers } = modernMessage('tools/call', slow(2), { capabilities: {} });
      const params = { ...body.params, _meta: { ...body.params._meta, progressToken: 1 } };
      (await openStream(url, { ...body, params }, headers)).close();
      assert.equal((await modernRequest(url, 'tools/list')).status, 200);
    },
  },
  {
    ...{ name: 'per-request-loglevel', pull: 438, rule: 'D-27', revision: MODERN },
    async run(url) {
      const { body, headers } = modernMessage('tools/list');
      const answer = async (level: string) => {
        const _meta = { ...body.params._meta, 'io.modelcontextprotocol/logLevel': level };
        return (await post(url, { ...body, params: { ...body.params, _meta } }, headers)).body;
      };
      assert.equal((await answer('bogus')).error.code, -32602);
      assert.ok((await answer('debug')).result);
    },
  },
  {
    ...{ name: 'server-sessionless', pull: 333, rule: 'D-32', revision: MODERN },
    async run(url) {
      for (const session of [undefined, 'forged']) {
        const { status, headers } = await modernRequest(
          url,
          'tools/list',
          {},
          { headers: { 'mcp-session-id': session } },
        );
        assert.deepEqual([status, headers.get('mcp-session-id')], [200, null]);
      }
    },
  },
];

/** The outcomes in the form of the suite. */
export async function runAhead(url: string, rows = ahead): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const { name, pull, rule, revision, run } of rows) {
    const failed = await run(url).then(
      () => undefined,
      (error: unknown) => String((error as Error)?.message ?? error),
    );
    const check = { id: `${rule} ${name}`, description: `pull request ${pull}` };
    const scenario = { name: `${name} (#${pull}, ${rule})`, revisions: [revision] };
    const checks =
      failed === undefined
        ? [{ ...check, status: 'SUCCESS' as const }]
        : [{ ...check, status: 'FAILURE' as const, errorMessage: failed }];
    outcomes.push({ scenario, revision, checks, exitCode: failed === undefined ? 0 : 1, output: '' });
  }
  return outcomes;
}
