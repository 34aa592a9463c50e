import { describe, expect, test } from 'vitest';
import type { ToolEntry } from '../../../../functions/mcp/manifest.ts';
import { modernWire } from '../../../../functions/mcp/wire/2026-07-28.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';

const serverInfo = { name: 's', version: '1' };
const wire = modernWire(serverInfo);
const INFO = { 'io.modelcontextprotocol/serverInfo': serverInfo };

describe('a tool of 2026-07-28 shows', () => {
  const least: ToolEntry = {
    ...{ name: 'x', description: 'd', inputSchema: { type: 'object' }, taskSupport: 'optional', timeout: 1 },
  };
  const shown = { name: 'x', description: 'd', inputSchema: { type: 'object' } };

  test('nothing that it does not have, nothing of the server, and nothing about tasks', () => {
    expect(wire.tool({ ...least, engine: 'standard', pollInterval: 1, scopes: ['s'] })).toStrictEqual(shown);
  });

  test('its title, its annotations and its outputSchema, of any type', () => {
    const more = { title: 'T', annotations: { readOnlyHint: true }, outputSchema: { type: 'array' } };
    expect(wire.tool({ ...least, ...more })).toStrictEqual({ ...shown, ...more });
  });
});

test.each<[string, unknown, object]>([
  ['but for reserved keys', { mine: 1, progressToken: 2 }, { _meta: { mine: 1 } }],
  ['if it is an object', 'text', {}],
])('a question keeps the metadata of its tool, %s (A-21)', (_name, _meta, expected) => {
  const asked = wire.questions({ k: { method: 'roots/list', params: { _meta } } });
  expect(asked).toStrictEqual({ k: { method: 'roots/list', params: expected } });
});

test('a listener without a filter gets no tasks (D-30)', () => {
  const _meta = { 'io.modelcontextprotocol/subscriptionId': 7 };
  expect(wire.acknowledged(7, undefined)).toMatchObject({ params: { notifications: {}, _meta } });
  expect(
    Object.keys((wire.acknowledged(7, undefined) as { params: { notifications: object } }).params.notifications),
  ).toEqual([]);
  expect(wire.acknowledged(7, [])).toMatchObject({ params: { notifications: { taskIds: [] }, _meta } });
});

describe('a task that has ended', () => {
  const task = (more: Partial<TaskRecord>) =>
    wire.task({
      record: { taskId: 't', createdAt: 0, updatedAt: 1, ttl: 5, ...more } as TaskRecord,
      pollInterval: 7,
    });
  const at = { createdAt: '1970-01-01T00:00:00.000Z', lastUpdatedAt: '1970-01-01T00:00:00.001Z' };
  const shown = { taskId: 't', ...at, ttlMs: 5, pollIntervalMs: 7, resultType: 'complete', _meta: INFO };

  test.each<[string, Partial<TaskRecord>, object]>([
    ['without a result has an empty one', { status: 'completed' }, { result: { content: [], resultType: 'complete' } }],
    ['without an error has a fixed one', { status: 'failed' }, { error: { code: -32603, message: 'The tool failed' } }],
    ['by a cancel has neither', { status: 'cancelled' }, {}],
  ])('%s (E-12, E-13)', (_name, record, more) => {
    expect(task(record)).toStrictEqual({ ...shown, status: record.status, ...more });
  });
});
