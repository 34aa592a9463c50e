import { describe, expect, test } from 'vitest';
import { endpoint } from '../../../functions/mcp/endpoint.ts';
import { fakeServer } from './support/fake-server.ts';

const V = 'io.modelcontextprotocol/protocolVersion';
const C = 'io.modelcontextprotocol/clientCapabilities';
const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const modern = { [V]: '2026-07-28', [C]: TASKS };

type Headers = Record<string, string>;
const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const H = (version: string, more: Headers = {}): Headers => ({ 'mcp-protocol-version': version, ...more });
const rpc = (method: string, params?: object, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  ...(params && { params }),
});

async function send(body: unknown, headers: Headers = {}, method = 'POST', fake = fakeServer()) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const reply = await endpoint({ method, headers: { ...json, ...headers }, body: text }, fake.server);
  return { ...reply, json: reply.body === '' ? undefined : JSON.parse(String(reply.body)), did: fake.did };
}

describe('the ladder of docs/protocol.md 1.1 (A-03, D-01, D-09)', () => {
  const rows: [string, unknown, Headers, number, number | undefined][] = [
    ['5 not JSON (A-02)', '{', {}, 400, -32700],
    ['6 batch (A-03)', [rpc('ping')], {}, 400, -32600],
    ['6 not an object', '5', {}, 400, -32600],
    ['6 wrong jsonrpc', { jsonrpc: '1.0', id: 1, method: 'ping' }, {}, 400, -32600],
    ['6 method not a string', { jsonrpc: '2.0', id: 1, method: 5 }, {}, 400, -32600],
    ['6 id null (A-04)', rpc('ping', {}, null), {}, 400, -32600],
    ['6 id boolean', rpc('ping', {}, true), {}, 400, -32600],
    ['6 id fraction', rpc('ping', {}, 1.5), {}, 400, -32600],
    ['7 posted response, modern header', { jsonrpc: '2.0', id: 1, result: {} }, H('2026-07-28'), 400, -32600],
    ['9 version not a string', rpc('ping', { _meta: { [V]: 5 } }), {}, 400, -32602],
    [
      '11 initialize in a modern envelope (D-09)',
      rpc('initialize', { _meta: modern }),
      H('2026-07-28', { 'mcp-method': 'initialize' }),
      404,
      -32601,
    ],
    ['12 modern header, no envelope (D-01)', rpc('tools/list'), H('2026-07-28'), 400, -32602],
    ['12 future header, no envelope', rpc('tools/list'), H('2027-01-01'), 400, -32602],
    ['14 unsupported header (B-08)', rpc('tools/list'), H('2024-11-05'), 400, -32022],
    ['14 garbage header', rpc('tools/list'), H('v999.0.0'), 400, -32022],
    ['17 no version at all', rpc('tools/list'), {}, 400, -32020],
    ['16 unknown session (B-05)', rpc('tools/list'), { 'mcp-session-id': 'nope' }, 404, -32600],
    ['13 legacy header', rpc('ping'), H('2025-11-25'), 200, undefined],
    ['10 legacy version in the body', rpc('ping', { _meta: { [V]: '2025-11-25' } }), {}, 200, undefined],
    [
      '13 initialize with any older header',
      rpc('initialize', { protocolVersion: '2024-01-01', capabilities: {} }),
      H('2024-01-01'),
      200,
      undefined,
    ],
    [
      '15 initialize without header',
      rpc('initialize', { protocolVersion: '2025-11-25', capabilities: {} }),
      {},
      200,
      undefined,
    ],
  ];
  test.each(rows)('row %s', async (_row, body, headers, status, code) => {
    const reply = await send(body, headers);
    expect(reply.status).toBe(status);
    expect(reply.json.error?.code).toBe(code);
    expect(reply.json.id).not.toBe(null);
  });

  test('row 2: a foreign Origin is refused first; none or an allowed one passes (A-08)', async () => {
    expect((await send('{', { origin: 'https://evil.example' })).status).toBe(403);
    expect((await send('{', { origin: 'http://localhost.evil.example:80' })).status).toBe(403);
    for (const origin of ['https://app.example', 'http://localhost:5173', 'http://localhost']) {
      const reply = await send(rpc('ping'), H('2025-11-25', { origin }));
      expect(reply).toMatchObject({ status: 200, headers: { 'access-control-allow-origin': origin, vary: 'origin' } });
    }
  });

  test.each(['GET', 'DELETE', 'PUT', 'PATCH'])('row 4: %s is not offered (B-06, B-09)', async (method) => {
    const json = { error: { code: -32600, message: 'Only POST is offered here' } };
    expect(await send('', {}, method)).toMatchObject({ status: 405, headers: { allow: 'POST' }, json });
  });

  test.each([H('2025-11-25'), H('2026-07-28'), {}])(
    'row 8: a notification is accepted with 202 and no body (A-06): %o',
    async (headers) => {
      for (const method of ['notifications/initialized', 'notifications/cancelled', 'whatever']) {
        expect(await send({ jsonrpc: '2.0', method }, headers)).toMatchObject({ status: 202, body: '' });
      }
    },
  );

  test('a notification of 2026-07-28 cancels no task, whatever it names (E-21)', async () => {
    const fake = fakeServer();
    const named = H('2026-07-28', { 'mcp-method': 'tools/call', 'mcp-name': 'required' });
    const { json: made } = await send(rpc('tools/call', { name: 'required', _meta: modern }, 7), named, 'POST', fake);
    const before = fake.did.length;
    for (const requestId of [7, made.result.taskId]) {
      const body = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, _meta: modern } };
      expect((await send(body, H('2026-07-28'), 'POST', fake)).status).toBe(202);
    }
    expect(fake.did.length).toBe(before);
    expect(fake.records.get(made.result.taskId)?.status).toBe('working');
  });

  test('row 16: a valid session carries the version, and wins over a header (B-04, C-03)', async () => {
    const fake = fakeServer();
    const first = await send(rpc('initialize', { protocolVersion: '2025-11-25', capabilities: {} }), {}, 'POST', fake);
    const session = first.headers['mcp-session-id'] ?? '';
    expect(session).toMatch(/^[\x21-\x7e]+$/);
    expect((await send(rpc('ping'), { 'mcp-session-id': session }, 'POST', fake)).json.result).toEqual({});
    const older = H('2025-06-18', { 'mcp-session-id': session });
    const { json: made } = await send(rpc('tools/call', { name: 'required', task: {} }), older, 'POST', fake);
    expect(made.result.task.status).toBe('working');
    const forged = session.replace(/^./, (c) => (c === 'e' ? 'f' : 'e'));
    expect((await send(rpc('ping'), { 'mcp-session-id': forged }, 'POST', fake)).status).toBe(404);
  });
});

test.each(['tasks/get', 'tasks/update', 'tasks/cancel'])(
  '%s: Mcp-Name may be missing, but not wrong (E-31, X-33)',
  async (method) => {
    const body = rpc(method, { taskId: 'x', inputResponses: {}, _meta: modern });
    const named = (name: Headers) => send(body, H('2026-07-28', { 'mcp-method': method, ...name }));
    expect(await named({})).toMatchObject({
      status: 200,
      json: { error: { code: -32602, message: 'Task not found' } },
    });
    expect(await named({ 'mcp-name': 'y' })).toMatchObject({ status: 400, json: { error: { code: -32020 } } });
    expect(await named({ 'mcp-name': '' })).toMatchObject({ status: 400, json: { error: { code: -32020 } } });
  },
);

describe('an integer that JavaScript would round', () => {
  const beyond = ['9007199254740992', '-9007199254740993', '12345678901234567890', '12345678901234567890.0'];
  const call = (args: string, headers = H('2025-11-25')) =>
    send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"plain","arguments":${args}}}`, headers);

  test.each(beyond)('%s is refused with the name of its field, and nothing is done (A-13)', async (number) => {
    for (const [args, at] of [
      [`{"account": ${number} }`, 'account'],
      [`{"a":{"list":[1,{"b.c":${number}}]}}`, 'a.list.1.b.c'],
    ]) {
      const { status, json, did } = await call(args ?? '');
      const message = `params.arguments.${at} is an integer beyond 2^53 - 1, which would be rounded: make it smaller, or a string`;
      expect([status, json.id, json.error, did]).toEqual([200, 1, { code: -32602, message }, []]);
    }
    const { json } = await send(
      `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"progressToken":${number}}}}`,
    );
    expect(json.error).toMatchObject({ code: -32602, message: expect.stringContaining('params._meta.progressToken') });
  });

  test('of 2026-07-28 is refused, too, before anything is read', async () => {
    const body = JSON.stringify(rpc('tools/call', { name: 'plain', arguments: { n: 0 }, _meta: modern }));
    const headers = H('2026-07-28', { 'mcp-method': 'tools/call', 'mcp-name': 'plain' });
    const { status, json, did } = await send(body.replace('"n":0', '"n":9007199254740993'), headers);
    expect([status, json.error.code, did]).toEqual([200, -32602, []]);
  });

  test.each([
    ...['9007199254740991', '-9007199254740991', '1e20', '1.5e300', '12345678901234567.5', '0.12345678901234567'],
    ...['"12345678901234567890"', '": 12345678901234567890,"', '[": 12345678901234567890,", 1e20]'],
  ])('%s is fine', async (value) => {
    expect((await call(`{"n":${value}}`)).json).toHaveProperty('result');
  });
});

test('the id of a request takes 256 bytes at most: it comes back in each event id (A-04)', async () => {
  for (const [id, status] of [
    ['x'.repeat(256), 200],
    ['x'.repeat(257), 400],
    ['ä'.repeat(129), 400],
  ] as const) {
    const { json, ...reply } = await send(rpc('ping', {}, id), H('2025-11-25'));
    expect([reply.status, json.id]).toEqual([status, id]);
    if (status === 400) expect(json.error).toEqual({ code: -32600, message: 'id may take 256 bytes at most' });
  }
});

describe('the order of docs/protocol.md 1.2', () => {
  const call = (method: string, params: object, headers: Headers, meta: object = modern) =>
    send(rpc(method, { ...params, _meta: meta }), headers);
  const ok = (method: string, more: Headers = {}) => H('2026-07-28', { 'mcp-method': method, ...more });

  test.each<[string, string, object, Headers, object, number, number]>([
    ['M1 capabilities missing (D-01)', 'tools/list', {}, ok('tools/list'), { [V]: '2026-07-28' }, 400, -32602],
    ['M1 before M2', 'tools/list', {}, H('2025-11-25'), { [V]: '2026-07-28' }, 400, -32602],
    [
      'M1 clientInfo without version',
      'tools/list',
      {},
      ok('tools/list'),
      { ...modern, 'io.modelcontextprotocol/clientInfo': { name: 'x' } },
      400,
      -32602,
    ],
    ['M2 header missing (D-04)', 'tools/list', {}, { 'mcp-method': 'tools/list' }, modern, 400, -32020],
    ['M2 before M3', 'tools/list', {}, ok('tools/list'), { ...modern, [V]: 'v999.0.0' }, 400, -32020],
    ['M3 version not served (D-03)', 'tools/list', {}, H('v999.0.0'), { ...modern, [V]: 'v999.0.0' }, 400, -32022],
    ['M4 Mcp-Method missing (D-05)', 'tools/list', {}, H('2026-07-28'), modern, 400, -32020],
    ['M4 case matters (A-09)', 'tools/list', {}, ok('TOOLS/LIST'), modern, 400, -32020],
    ['M5 unknown method (D-09)', 'nope', {}, ok('nope'), modern, 404, -32601],
    ['M5 before M7 (E-22)', 'tasks/result', { taskId: 'x' }, ok('tasks/result'), { ...modern, [C]: {} }, 404, -32601],
    ['M5 ping is gone', 'ping', {}, ok('ping'), modern, 404, -32601],
    ['M6 Mcp-Name missing on a call (D-05)', 'tools/call', { name: 'plain' }, ok('tools/call'), modern, 400, -32020],
    [
      'M6 Mcp-Name differs',
      'tools/call',
      { name: 'plain' },
      ok('tools/call', { 'mcp-name': 'other' }),
      modern,
      400,
      -32020,
    ],
    [
      'M6 malformed base64 (D-06)',
      'tools/call',
      { name: 'Hello' },
      ok('tools/call', { 'mcp-name': '=?base64?SGVsbG8?=' }),
      modern,
      400,
      -32020,
    ],
    [
      'M7 before the lookup (E-16)',
      'tasks/get',
      { taskId: 'x' },
      ok('tasks/get', { 'mcp-name': 'x' }),
      { ...modern, [C]: {} },
      400,
      -32021,
    ],
    [
      'M7 required tool (E-04)',
      'tools/call',
      { name: 'required' },
      ok('tools/call', { 'mcp-name': 'required' }),
      { ...modern, [C]: {} },
      400,
      -32021,
    ],
    [
      'M8 taskId unknown (E-15)',
      'tasks/get',
      { taskId: 'x' },
      ok('tasks/get', { 'mcp-name': 'x' }),
      modern,
      200,
      -32602,
    ],
    ['M8 tool unknown (A-13)', 'tools/call', { name: 'x' }, ok('tools/call', { 'mcp-name': 'x' }), modern, 200, -32602],
    [
      'M9 header of an argument missing (D-07)',
      'tools/call',
      { name: 'marked', arguments: { where: { region: 'eu' } } },
      ok('tools/call', { 'mcp-name': 'marked' }),
      modern,
      400,
      -32020,
    ],
    [
      'M9 header without its argument',
      'tools/call',
      { name: 'marked' },
      ok('tools/call', { 'mcp-name': 'marked', 'mcp-param-region': 'eu' }),
      modern,
      400,
      -32020,
    ],
  ])('%s', async (_row, method, params, headers, meta, status, code) => {
    const reply = await call(method, params, headers, meta);
    expect(reply).toMatchObject({ status, json: { id: 1, error: { code } } });
    expect(reply.did.filter((what) => what !== 'get')).toEqual([]);
  });

  test('M10: names and arguments in headers, plain or encoded', async () => {
    const names = ['plain', '=?base64?cGxhaW4=?='];
    for (const name of names)
      expect((await call('tools/call', { name: 'plain' }, ok('tools/call', { 'mcp-name': name }))).status).toBe(200);
    const args = { name: 'marked', arguments: { where: { region: 'é u' } } };
    const encoded = `=?base64?${Buffer.from('é u').toString('base64')}?=`;
    expect(
      (await call('tools/call', args, ok('tools/call', { 'mcp-name': 'marked', 'mcp-param-region': encoded }))).status,
    ).toBe(200);
  });

  test('the version error lists what is served (D-03, D-14)', async () => {
    const reply = await call('tools/list', {}, H('1900-01-01'), { ...modern, [V]: '1900-01-01' });
    expect(reply.json.error.data).toEqual({ supported: ['2026-07-28', '2025-11-25'], requested: '1900-01-01' });
  });
});
