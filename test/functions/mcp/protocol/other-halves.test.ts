import { describe, expect, test } from 'vitest';
import { TASKS } from '../../../support/clients.ts';
import { clients } from '../support/fake-clients.ts';
import { fakeServer } from '../support/fake-server.ts';
import { exchanged } from '../support/posted.ts';

/** The parts of rules with an "and" or a "but" that no other test shows. */

const LEGACY = { 'mcp-protocol-version': '2025-11-25' };
const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
const JSON_TYPE = { 'content-type': 'application/json' };

describe('2025-11-25', () => {
  test.each([
    ['another origin', { ...LEGACY, origin: 'https://evil.example' }, 403],
    ['a session that is not there', { ...LEGACY, 'mcp-session-id': 'x' }, 404],
    ['another content type', { ...LEGACY, 'content-type': 'text/plain' }, 415],
  ])('a notification of %s is refused, without an id and without a result (A-06)', async (_what, headers, status) => {
    const { status: told, messages } = await exchanged(fakeServer().server, notification, { ...JSON_TYPE, ...headers });
    expect(told).toBe(status);
    for (const message of messages) expect(Object.keys(message).sort()).toEqual(['error', 'jsonrpc']);
  });
});

describe('2026-07-28', () => {
  const known = { taskId: '0'.repeat(36) };

  test.each(['tasks/result', 'tasks/list'])('%s does not exist, for any client (E-22)', async (method) => {
    for (const capabilities of [TASKS, {}]) {
      const { status, last } = await clients().modern(method, known, capabilities);
      expect([status, last.error.code]).toEqual([404, -32601]);
    }
  });

  test('a client may declare the extension with any object (E-01)', async () => {
    for (const settings of [{}, { listChanged: true, other: [1] }]) {
      const extensions = { 'io.modelcontextprotocol/tasks': settings };
      const { last } = await clients().modern('tools/call', { name: 'optional' }, { extensions });
      expect(last.result.resultType).toBe('task');
    }
  });

  test('every result says of which type it is (D-11, F-13)', async () => {
    const { modern } = clients();
    const created = (await modern('tools/call', { name: 'optional' })).last.result;
    const taskId = String(created.taskId);
    const asked: [method: string, params: Record<string, unknown>][] = [
      ['server/discover', {}],
      ['tools/list', {}],
      ['tools/call', { name: 'plain' }],
      ['tasks/get', { taskId }],
      ['tasks/update', { taskId, inputResponses: {} }],
      ['tasks/cancel', { taskId }],
      ['tasks/get', { taskId }],
    ];
    expect(created.resultType).toBe('task');
    for (const [method, params] of asked)
      expect([method, (await modern(method, params)).last.result.resultType]).toEqual([method, 'complete']);
  });
});
