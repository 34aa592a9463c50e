import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { limits } from '../../../../functions/tasks/limits.ts';
import { FORMS, type Headers_, modernMessage } from '../../../support/clients.ts';
import { fakeServer } from '../support/fake-server.ts';
import { exchanged, LEGACY } from '../support/posted.ts';

/** JSON-RPC's own codes, and those that only 2026-07-28 defines. */
const JSON_RPC = [-32700, -32603, -32602, -32601, -32600];
const MODERN_ONLY = [-32022, -32021, -32020];
const ascending = (codes: Iterable<number>) => [...new Set(codes)].sort((a, b) => a - b);
const broken = () => fakeServer({ invoke: () => Promise.reject(new Error('no')) });
const asking = (question: object) =>
  fakeServer({ invoke: async () => ({ text: JSON.stringify({ inputRequests: { question } }) }) });
const form = {
  method: 'elicitation/create',
  params: { message: 'm', requestedSchema: { type: 'object', properties: {} } },
};
const link = { method: 'elicitation/create', params: { mode: 'url', url: 'https://a.example/', message: 'm' } };

/** A request no server can serve. */
type Bad = [what: string, body: unknown, headers: Headers_, fake?: ReturnType<typeof fakeServer> | undefined];

function modern(
  what: string,
  method: string,
  params: Record<string, unknown> = {},
  more: { capabilities?: object; headers?: Headers_; meta?: object; fake?: ReturnType<typeof fakeServer> } = {},
): Bad {
  const { body, headers } = modernMessage(method, params, more);
  const _meta = { ...body.params._meta, ...more.meta };
  return [what, { ...body, params: { ...body.params, _meta } }, headers, more.fake];
}

const legacy = (what: string, method: string, params: object = {}, headers: Headers_ = {}, fake?: Bad[3]): Bad => [
  what,
  { jsonrpc: '2.0', id: 1, method, params },
  { ...LEGACY, ...headers },
  fake,
];

const unknown = '0'.repeat(36);
const V = 'io.modelcontextprotocol/protocolVersion';

const newer: Bad[] = [
  ['not JSON', '{', { 'mcp-protocol-version': '2026-07-28' }],
  ['a batch', '[]', { 'mcp-protocol-version': '2026-07-28' }],
  ['an answer', { jsonrpc: '2.0', id: 1, result: {} }, { 'mcp-protocol-version': '2026-07-28' }],
  ['too large', `{"a":"${'x'.repeat(limits.body)}"}`, { 'mcp-protocol-version': '2026-07-28' }],
  ['no version', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, {}],
  ['no envelope', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, { 'mcp-protocol-version': '2026-07-28' }],
  modern('no capabilities', 'tools/list', {}, { meta: { 'io.modelcontextprotocol/clientCapabilities': 5 } }),
  modern('a strange client', 'tools/list', {}, { meta: { 'io.modelcontextprotocol/clientInfo': 5 } }),
  modern('a version that is no string', 'tools/list', {}, { meta: { [V]: 5 } }),
  modern('another version', 'tools/list', {}, { meta: { [V]: '1' }, headers: { 'mcp-protocol-version': '1' } }),
  modern('another version in the header', 'tools/list', {}, { headers: { 'mcp-protocol-version': '2026-07-29' } }),
  modern('another method in the header', 'tools/list', {}, { headers: { 'mcp-method': 'x' } }),
  modern('another name in the header', 'tools/call', { name: 'plain' }, { headers: { 'mcp-name': 'x' } }),
  modern('no name in the header', 'tools/call', { name: 'plain' }, { headers: { 'mcp-name': undefined } }),
  modern('an argument without its header', 'tools/call', { name: 'marked', arguments: { where: { region: 'x' } } }),
  modern('Accept', 'tools/list', {}, { headers: { accept: 'image/png' } }),
  modern('Content-Type', 'tools/list', {}, { headers: { 'content-type': 'text/plain' } }),
  modern('Origin', 'tools/list', {}, { headers: { origin: 'https://evil.example' } }),
  ...[
    'nope',
    'initialize',
    'ping',
    'tasks/list',
    'tasks/result',
    'logging/setLevel',
    'resources/read',
    '__proto__',
  ].map((method) => modern(method, method)),
  modern('a cursor', 'tools/list', { cursor: 'x' }),
  modern('an unknown tool', 'tools/call', { name: 'x' }),
  modern('a tool without a name', 'tools/call', {}, { headers: { 'mcp-name': 'x' } }),
  modern('arguments', 'tools/call', { name: 'plain', arguments: 5 }),
  modern('answers', 'tools/call', { name: 'plain', inputResponses: 5 }),
  modern('state', 'tools/call', { name: 'plain', requestState: 'x' }),
  modern('a required tool', 'tools/call', { name: 'required' }, { capabilities: {} }),
  modern('a question not declared', 'tools/call', { name: 'plain' }, { capabilities: {}, fake: asking(form) }),
  modern('a question that is none', 'tools/call', { name: 'plain' }, { fake: asking({ method: 'x' }) }),
  modern('a fault', 'tools/call', { name: 'plain' }, { fake: broken() }),
  ...['tasks/get', 'tasks/update', 'tasks/cancel'].flatMap((method) => [
    modern(`${method}, unknown`, method, { taskId: unknown, inputResponses: {} }),
    modern(`${method}, not declared`, method, { taskId: unknown }, { capabilities: FORMS }),
  ]),
  modern('no answers', 'tasks/update', { taskId: unknown }),
  modern('no filter', 'subscriptions/listen'),
  modern('listen, not declared', 'subscriptions/listen', { notifications: { taskIds: [] } }, { capabilities: {} }),
];

const older: Bad[] = [
  ['not JSON', '{', LEGACY],
  ['an answer without a question', { jsonrpc: '2.0', id: 'x', result: {} }, LEGACY],
  legacy('an unknown session', 'ping', {}, { 'mcp-session-id': 'x' }),
  legacy('initialize without a version', 'initialize'),
  ...['nope', 'server/discover', 'tasks/update', 'subscriptions/listen', 'resources/read', 'completion/complete'].map(
    (method) => legacy(method, method),
  ),
  legacy('an unknown tool', 'tools/call', { name: 'x' }),
  legacy('a required tool', 'tools/call', { name: 'required' }),
  legacy('a forbidden tool', 'tools/call', { name: 'plain', task: {} }),
  legacy('a strange task', 'tools/call', { name: 'optional', task: 5 }),
  legacy('a strange ttl', 'tools/call', { name: 'optional', task: { ttl: 'x' } }),
  legacy('a fault', 'tools/call', { name: 'plain' }, {}, broken()),
  legacy('a question, by URL', 'tools/call', { name: 'plain' }, {}, asking(link)),
  ...['tasks/get', 'tasks/result', 'tasks/cancel'].map((method) => legacy(method, method, { taskId: unknown })),
  legacy('a list without a session', 'tasks/list'),
  legacy('a cursor', 'tasks/list', { cursor: 'x' }),
  legacy('a level', 'logging/setLevel', { level: 'loud' }),
];

/** The code of its answer, which is judged by the published schemas. */
const codeOf = async ([, body, headers, { server } = fakeServer()]: Bad): Promise<number> =>
  (await exchanged(server, body, headers)).error.code;

describe('error codes', () => {
  test.each(newer)('2026-07-28, %s: a code the revision defines (D-33)', async (...bad) => {
    expect([...JSON_RPC, ...MODERN_ONLY]).toContain(await codeOf(bad));
  });

  test.each(older)('2025-11-25, %s: a code of JSON-RPC (D-33)', async (...bad) => {
    expect(JSON_RPC).toContain(await codeOf(bad));
  });

  test('these tables meet every code there is (D-33)', async () => {
    const met: number[] = [];
    for (const bad of [...newer, ...older]) met.push(await codeOf(bad));
    expect(ascending(met)).toEqual([...JSON_RPC, ...MODERN_ONLY]);
  });

  test('no other code of the reserved range is anywhere in the code of the server (D-33, F-12)', () => {
    const root = new URL('../../../../', import.meta.url);
    const files = ['functions/', 'lib/'].flatMap((folder) =>
      readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
        // The drafts of MCP Events name other codes (docs/protocol.md, H-02).
        .filter((name) => /\.(ts|jsonata|json)$/.test(name) && name !== 'mcp/events/errors.ts')
        .map((name) => new URL(folder + name, root)),
    );
    const codes = files.flatMap((file) => readFileSync(file, 'utf8').match(/-32\d{3}\b/g) ?? []);
    expect(ascending(codes.map(Number))).toEqual([...JSON_RPC, ...MODERN_ONLY]);
  });

  test('what a task keeps has a code of both revisions (D-33, F-12)', async () => {
    const fake = fakeServer({ workflow: { start: () => Promise.reject(new Error('no')), stop: async () => {} } });
    await codeOf(modern('a task that cannot start', 'tools/call', { name: 'optional' }, { fake }));
    expect(fake.records.all().map(({ error }) => JSON.parse(error ?? '{}').code)).toEqual([-32603]);
  });
});
