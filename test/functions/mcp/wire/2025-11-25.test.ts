import { describe, expect, test } from 'vitest';
import type { ToolEntry } from '../../../../functions/mcp/manifest.ts';
import { legacyWire, questionParams } from '../../../../functions/mcp/wire/2025-11-25.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';

const RELATED = 'io.modelcontextprotocol/related-task';
const least: ToolEntry = {
  ...{ name: 'x', description: 'd', inputSchema: { type: 'object' }, taskSupport: 'forbidden', timeout: 1 },
};
const shown = { name: 'x', description: 'd', inputSchema: { type: 'object' } };

describe('a tool of 2025-11-25 shows', () => {
  test('nothing that it does not have, and nothing of the server', () => {
    expect(legacyWire.tool({ ...least, engine: 'standard', pollInterval: 1, scopes: ['s'] })).toStrictEqual(shown);
  });

  test('its title, its annotations, and that it may run as a task', () => {
    const more = { title: 'T', annotations: { readOnlyHint: true } };
    expect(legacyWire.tool({ ...least, ...more, taskSupport: 'optional' })).toStrictEqual({
      ...{ ...shown, ...more },
      execution: { taskSupport: 'optional' },
    });
  });

  test.each(['object', 'array', undefined])('its outputSchema only if it is one of an object: %s', (type) => {
    const outputSchema = { type };
    expect(legacyWire.tool({ ...least, outputSchema })).toStrictEqual({
      ...shown,
      ...(type === 'object' && { outputSchema }),
    });
  });
});

describe('a question keeps the metadata of its tool (A-21, C-21)', () => {
  const record = { taskId: 't' } as TaskRecord;
  const _meta = { mine: 1, progressToken: 2, [RELATED]: { taskId: 'other' } };
  const paramsOf = (params: Record<string, unknown>, related: boolean) =>
    questionParams({ method: 'elicitation/create', params }, record, 'k', related);

  test.each<[string, Record<string, unknown>, boolean, object]>([
    ['but for reserved keys', { _meta }, false, { _meta: { mine: 1 } }],
    ['next to the name of the task', { _meta }, true, { _meta: { mine: 1, [RELATED]: { taskId: 't' } } }],
    ['if there is any', { _meta: { progressToken: 2 } }, false, {}],
    ['if it is an object', { _meta: 'text' }, false, {}],
  ])('%s', (_name, params, related, expected) => {
    expect(paramsOf(params, related)).toStrictEqual(expected);
  });
});

test('a task has a statusMessage only if its record has one (C-14)', () => {
  const record = { taskId: 't', status: 'working', createdAt: 0, updatedAt: 1, ttl: 5 } as TaskRecord;
  const at = { createdAt: '1970-01-01T00:00:00.000Z', lastUpdatedAt: '1970-01-01T00:00:00.001Z' };
  const task = { taskId: 't', status: 'working', ...at, ttl: 5, pollInterval: 7 };
  expect(legacyWire.task({ record, pollInterval: 7 })).toStrictEqual(task);
  const worded = legacyWire.task({ record: { ...record, statusMessage: 'm' }, pollInterval: 7 });
  expect(worded).toStrictEqual({ ...task, statusMessage: 'm' });
});
