import { describe, expect, test } from 'vitest';
import { checkAnswer, type Era, type Sent } from '../index.ts';
import { metaOf } from '../rules.ts';

const L: Era = '2025-11-25';
const M: Era = '2026-07-28';
const EXT = 'io.modelcontextprotocol/tasks';
const related = { _meta: { 'io.modelcontextprotocol/related-task': { taskId: 't' } } };
const text = { content: [{ type: 'text', text: 'hi' }] };
const times = { createdAt: '2026-07-28T10:00:00.000Z', lastUpdatedAt: '2026-07-28T10:00:01Z' };
const old = { taskId: 't', status: 'working', ...times, ttl: null, pollInterval: 5 };
const task = { taskId: 't', status: 'working', ...times, ttlMs: 60_000, pollIntervalMs: 500 };
const complete = { resultType: 'complete' };
const cached = { ...complete, ttlMs: 1, cacheScope: 'public' };
const tool = { name: 'a', inputSchema: { type: 'object' } };
const requestedSchema = {
  type: 'object',
  properties: { ok: { type: 'boolean' }, age: { type: 'number', default: 1.5 } },
};
const question = { method: 'elicitation/create', params: { message: 'Sure?', requestedSchema } };
const link = { method: 'elicitation/create', params: { mode: 'url', message: 'Go', url: 'https://a.example/' } };
const asking = (request: object) => ({ resultType: 'input_required', inputRequests: { k: request } });
const capable = (capabilities: object) => ({ _meta: { 'io.modelcontextprotocol/clientCapabilities': capabilities } });
const got = (status: string, more: object) => ({ ...task, ...complete, status, ...more });
const initialized = {
  protocolVersion: L,
  capabilities: { tools: {}, tasks: { requests: { tools: { call: {} } } } },
  serverInfo: { name: 's', version: '1' },
};
const discovered = { ...cached, supportedVersions: [M, L], capabilities: { tools: {}, extensions: { [EXT]: {} } } };
const sub = (id: unknown) => ({ ...complete, _meta: { 'io.modelcontextprotocol/subscriptionId': id } });

const check = (era: Era, method: string, answer: object, params?: object, more: Sent = {}) =>
  checkAnswer(era, method, { jsonrpc: '2.0', id: 1, ...answer }, { id: 1, method, ...(params && { params }), ...more });

describe('results that are published', () => {
  test.each<[Era, string, object, object?]>([
    [L, 'initialize', initialized, { protocolVersion: '1999-01-01' }],
    [L, 'ping', {}],
    [L, 'tools/list', { tools: [{ ...tool, execution: { taskSupport: 'optional' } }], nextCursor: '' }],
    [L, 'tools/call', { ...text, structuredContent: {} }],
    [L, 'tools/call', { task: old }, { task: { ttl: 5 } }],
    [L, 'tasks/get', old, { taskId: 't' }],
    [L, 'tasks/cancel', { ...old, status: 'cancelled' }, { taskId: 't' }],
    [L, 'tasks/list', { tasks: [old] }],
    [L, 'tasks/result', { ...text, ...related }, { taskId: 't' }],
    [L, 'prompts/list', { prompts: 'not judged' }],
    [M, 'server/discover', discovered],
    [M, 'tools/list', { ...cached, tools: [tool] }],
    [M, 'tools/call', { ...complete, ...text, structuredContent: 5 }],
    [M, 'tools/call', { ...task, resultType: 'task' }, capable({ extensions: { [EXT]: {} } })],
    [M, 'tools/call', asking(question), capable({ elicitation: {} })],
    [M, 'tools/call', asking(link), capable({ elicitation: { url: {} } })],
    [M, 'tools/call', { resultType: 'input_required', requestState: 's' }],
    [M, 'tasks/get', { ...task, ...complete }, { taskId: 't' }],
    [M, 'tasks/get', got('input_required', { inputRequests: { k: question } })],
    [M, 'tasks/get', got('completed', { result: { ...complete, ...text } })],
    [M, 'tasks/get', got('failed', { error: { code: -32603, message: 'm', data: null } })],
    [M, 'tasks/update', { ...complete, _meta: {} }],
    [M, 'tasks/cancel', complete],
    [M, 'subscriptions/listen', sub(1)],
  ])('%s %s %o', (era, method, result, params) => {
    expect(() => check(era, method, { result }, params)).not.toThrow();
  });
});

describe('results that are not', () => {
  test.each<[Era, string, object, RegExp, object?]>([
    [L, 'initialize', { ...initialized, capabilities: { extensions: {} } }, /'extensions'.*C-01/s],
    [L, 'initialize', { ...initialized, protocolVersion: M }, /agree/],
    [L, 'initialize', initialized, /'2025-06-18'|agree/, { protocolVersion: '2025-06-18' }],
    [L, 'ping', { _meta: {} }, /'_meta'/],
    [L, 'tools/list', { tools: [tool, tool] }, /same name/],
    [L, 'tools/list', { tools: [{ ...tool, outputSchema: { type: 'array' } }] }, /outputSchema/],
    [L, 'tools/call', { ...text, resultType: 'complete' }, /'resultType'/],
    [L, 'tools/call', { ...text, structuredContent: 5 }, /structuredContent must be object/],
    [L, 'tools/call', { content: [{ type: 'image', data: '*', mimeType: 'a/b' }] }, /format "byte"/],
    [L, 'tools/call', text, /'task'/, { task: {} }],
    [L, 'tools/call', { task: old }, /content/, {}],
    [L, 'tools/call', { task: { ...old, status: 'completed' } }, /C-09/, { task: {} }],
    [L, 'tools/call', { task: { ...old, ttlMs: 1 } }, /'ttlMs'/, { task: {} }],
    [L, 'tasks/get', { ...old, ...related }, /related-task/],
    [L, 'tasks/get', { ...old, createdAt: 'today' }, /ISO 8601/],
    [L, 'tasks/get', old, /of task t, not u/, { taskId: 'u' }],
    [L, 'tasks/cancel', old, /C-25/],
    [L, 'tasks/list', { tasks: [{ ...old, ttl: undefined }] }, /ttl/],
    [L, 'tasks/result', text, /C-17/],
    [L, 'server/discover', {}, /no result in 2025/],
    [M, 'server/discover', { ...discovered, serverInfo: {} }, /'serverInfo'/],
    [M, 'server/discover', { ...discovered, capabilities: { tasks: {} } }, /'tasks'.*E-01/s],
    [M, 'server/discover', { ...discovered, ttlMs: -1 }, /ttlMs must be >= 0/],
    [M, 'tools/list', { ...cached, tools: [{ ...tool, execution: {} }] }, /'execution'/],
    [M, 'tools/list', { ...complete, tools: [] }, /cacheScope/],
    [M, 'tools/list', { resultType: 'input_required', requestState: 's' }, /one of complete/],
    [M, 'tools/call', text, /resultType/],
    [M, 'tools/call', { ...complete, ...text, ...related }, /related-task/],
    [M, 'tools/call', { ...task, resultType: 'task' }, /E-03/, capable({})],
    [M, 'tools/call', { ...task, resultType: 'task', result: {} }, /'result'/],
    [M, 'tools/call', { ...task, resultType: 'task', requestState: 's' }, /'requestState'/],
    [M, 'tools/call', { resultType: 'task', task }, /'task'/],
    [M, 'tools/call', { resultType: 'input_required' }, /must be there/],
    [M, 'tools/call', asking({ ...question, id: 1 }), /'id'/],
    [M, 'tools/call', asking({ method: 'nope' }), /InputRequests/],
    [M, 'tools/call', asking(question), /D-22/, capable({})],
    [M, 'tools/call', asking(link), /D-22/, capable({ elicitation: {} })],
    [M, 'tools/call', { ...asking(question), ttlMs: 5 }, /'ttlMs'/],
    [M, 'tasks/get', task, /resultType/],
    [M, 'tasks/get', { ...task, resultType: 'task' }, /one of complete/],
    [M, 'tasks/get', { ...task, ...complete, ttl: 5 }, /'ttl'/],
    [M, 'tasks/get', { ...task, ...complete, ttlMs: 0 }, /positive/],
    [M, 'tasks/get', { ...task, ...complete, inputRequests: {} }, /'inputRequests'/],
    [M, 'tasks/get', got('completed', {}), /ext-tasks GetTaskResult\/result/],
    [M, 'tasks/get', got('completed', { result: { ...complete, content: 5 } }), /content must be array/],
    [M, 'tasks/get', got('completed', { result: { ...complete, ...text, ...related } }), /related-task/],
    [M, 'tasks/get', got('failed', { error: { code: -32021, message: 'm' } }), /-32021/],
    [M, 'tasks/get', got('input_required', { inputRequests: { k: { method: 'ping' } } }), /InputRequests/],
    [M, 'tasks/update', { ...complete, taskId: 't' }, /'taskId'/],
    [M, 'tasks/cancel', { ...complete, status: 'cancelled' }, /'status'/],
    [M, 'tasks/result', { ...complete, ...text }, /no result in 2026/],
    [M, 'subscriptions/listen', sub('1'), /D-31/],
  ])('%s %s %o', (era, method, result, problem, params) => {
    expect(() => check(era, method, { result }, params)).toThrow(problem);
  });

  test('the error says method, revision, schema and answer', () => {
    expect(() => check(M, 'tools/call', { result: { resultType: 'complete', content: 'no' } })).toThrow(
      /answer to tools\/call in 2026-07-28:\n {2}result: CallToolResult\/content must be array .*\n {2}It was \{/,
    );
  });

  test('2025-06-18 has no tasks, and ignores that one is asked for (C-03)', () => {
    const version = '2025-06-18';
    expect(() => check(L, 'tools/call', { result: text }, { task: {} }, { version })).not.toThrow();
    expect(() => check(L, 'tasks/get', { result: old }, {}, { version })).toThrow(/no result in 2025-06-18/);
  });
});

test('metaOf takes anything', () => expect([5, null, {}, { _meta: 5 }].map(metaOf)).toEqual([{}, {}, {}, {}]));
