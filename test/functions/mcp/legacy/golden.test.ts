import { describe, expect, test } from 'vitest';
import { failure } from '../../../../functions/tasks/failures.ts';
import { newTaskKey } from '../../../../functions/tasks/ids.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { withProgress } from '../../../../functions/tasks/table/progress-item.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { cancel, fail } from '../../../../functions/tasks/transitions/end.ts';
import { applied } from '../../tasks/applied.ts';
import { ALL_KINDS, fakeServer } from '../support/fake-server.ts';
import { legacyCall, modernCall } from '../support/posted.ts';

/** One record, and what each revision shows of it: every member of every answer. */
const START = Date.parse('2026-07-28T10:00:00Z');
const NOW = START + 40_000;
const serverInfo = { 'io.modelcontextprotocol/serverInfo': { name: 'fake', version: '1' } };
const key = newTaskKey({ kind: 'anonymous' }, START);
const { taskId } = key;
const related = { 'io.modelcontextprotocol/related-task': { taskId } };
const question = (elicitationId?: string) => ({
  method: 'elicitation/create',
  params: { mode: 'url', url: 'https://a.example/', message: 'Go', ...(elicitationId && { elicitationId }) },
});

const settings = {
  tool: 'optional',
  ttl: 600_000,
  timeout: 60_000,
  accepts: ALL_KINDS,
  legacy: false,
};
const working = create(key, settings, START);
const later = (change: Parameters<typeof applied>[1], from = working) => applied(from, change) ?? from;
const set = (fields: Partial<TaskRecord>) =>
  later({ from: ['working'], set: { updatedAt: START + 30_000, ...fields } });
const asked = JSON.stringify({ inputRequests: { go: question('mine') }, requestState: 'secret' });
const failed = failure('ToolFailed', { reason: 'TypeError' });
const { error } = failed;
const overdue = { code: -32603, message: 'The tool did not finish in time', data: { reason: 'DeadlineExceeded' } };
const fine = { content: [{ type: 'text', text: '{"n":1}' }], structuredContent: { n: 1 } };
const bad = { content: [{ type: 'text', text: 'No such order' }], isError: true };

interface Row {
  readonly record: TaskRecord;
  readonly now?: number;
  /** Seconds after the start. */
  readonly updated: number;
  /** What both revisions show, then what one of them does. */
  readonly both?: object;
  readonly legacy: object;
  readonly modern: object;
  /** The answer to tasks/result; none while there is nothing to answer. */
  readonly result?: object;
  /** Whether it can still be cancelled; if not, the word of 2025-11-25 for what it is. */
  readonly over?: string;
}

const rows: Readonly<Record<string, Row>> = {
  working: { record: working, updated: 0, legacy: { status: 'working' }, modern: { status: 'working' } },
  'working, with progress': {
    record: withProgress(working, {
      ...{ round: 1, updatedAt: START + 30_000, statusMessage: 'half', progress: 1, progressTotal: 2 },
    }),
    updated: 30,
    both: { statusMessage: 'half' },
    legacy: { status: 'working' },
    modern: { status: 'working' },
  },
  input_required: {
    record: set({ status: 'input_required', asked, arguments: '{}' }),
    updated: 30,
    legacy: { status: 'input_required' },
    modern: { status: 'input_required', inputRequests: { 'r1.go': question() } },
  },
  'completed, with a result': {
    record: set({ status: 'completed', result: '{"n":1}' }),
    updated: 30,
    legacy: { status: 'completed' },
    modern: { status: 'completed', result: { ...fine, resultType: 'complete' } },
    result: { result: { ...fine, _meta: related } },
    over: 'completed',
  },
  'completed, with an error result': {
    record: set({ status: 'completed', result: JSON.stringify(bad), isError: true }),
    updated: 30,
    legacy: { status: 'failed', statusMessage: 'No such order' },
    modern: { status: 'completed', result: { ...bad, resultType: 'complete' } },
    result: { result: { ...bad, _meta: related } },
    over: 'failed',
  },
  failed: {
    record: later(fail(failed, START + 30_000)),
    updated: 30,
    both: { statusMessage: 'The tool failed' },
    legacy: { status: 'failed' },
    modern: { status: 'failed', error },
    result: { error },
    over: 'failed',
  },
  'past its deadline': {
    record: working,
    now: START + 90_001,
    updated: 90,
    both: { statusMessage: 'The tool did not finish in time' },
    legacy: { status: 'failed' },
    modern: { status: 'failed', error: overdue },
    result: { error: overdue },
    over: 'failed',
  },
  cancelled: {
    record: later(cancel(START + 30_000)),
    updated: 30,
    both: { statusMessage: 'Cancelled by the client' },
    legacy: { status: 'cancelled' },
    modern: { status: 'cancelled' },
    result: { error: { code: -32603, message: 'Task was cancelled' } },
    over: 'cancelled',
  },
};
const names = Object.keys(rows);
const rowOf = (name: string) => rows[name] as Row;
const at = (seconds: number) => new Date(START + seconds * 1_000).toISOString();
/** 15 % of its age, as both revisions say (within 1 to 30 seconds). */
const pause = ({ now = NOW }: Row) => Math.round((now - START) * 0.15);

async function ask(
  { record, now = NOW }: Row,
  era: 'legacy' | 'modern',
  method: string,
  params: Record<string, unknown>,
) {
  const { server, records } = fakeServer({ now: () => now });
  records.set(record);
  const { result, error } = await (era === 'legacy' ? legacyCall : modernCall)(server, method, params);
  return { answer: error === undefined ? { result } : { error }, records };
}

describe('one record as both revisions show it', () => {
  test.each(names)('tasks/get of 2025-11-25: %s (C-14, C-29, F-05 to F-07)', async (name) => {
    const row = rowOf(name);
    const { answer } = await ask(row, 'legacy', 'tasks/get', { taskId });
    const times = { createdAt: at(0), lastUpdatedAt: at(row.updated), ttl: 600_000, pollInterval: pause(row) };
    expect(answer).toEqual({ result: { taskId, ...times, ...row.both, ...row.legacy } });
  });

  test.each(names)('tasks/get of 2026-07-28: %s (E-11 to E-13, F-05 to F-08)', async (name) => {
    const row = rowOf(name);
    const { answer } = await ask(row, 'modern', 'tasks/get', { taskId });
    const times = { createdAt: at(0), lastUpdatedAt: at(row.updated), ttlMs: 600_000, pollIntervalMs: pause(row) };
    const envelope = { resultType: 'complete', _meta: serverInfo };
    expect(answer).toEqual({ result: { taskId, ...times, ...row.both, ...row.modern, ...envelope } });
  });

  test.each(names.filter((name) => rowOf(name).result !== undefined))(
    'tasks/result of 2025-11-25: %s (C-16, C-17, C-30, C-31, F-08, F-12)',
    async (name) => {
      const row = rowOf(name);
      expect((await ask(row, 'legacy', 'tasks/result', { taskId })).answer).toEqual(row.result);
    },
  );

  test.each(names)('tasks/cancel of 2025-11-25: %s (C-25, C-26, F-07)', async (name) => {
    const row = rowOf(name);
    const { answer, records } = await ask(row, 'legacy', 'tasks/cancel', { taskId });
    if (row.over !== undefined) {
      expect(answer).toEqual({ error: { code: -32602, message: `Cannot cancel task: it is already ${row.over}` } });
      expect(records.get(taskId)).toEqual(row.record);
      return;
    }
    const times = { createdAt: at(0), lastUpdatedAt: at(40), ttl: 600_000, pollInterval: pause(row) };
    const cancelled = { status: 'cancelled', statusMessage: 'Cancelled by the client' };
    expect(answer).toEqual({ result: { taskId, ...times, ...cancelled } });
    expect(records.get(taskId)?.status).toBe('cancelled');
  });

  test.each(names)('tasks/cancel of 2026-07-28: %s (E-21, F-07)', async (name) => {
    const row = rowOf(name);
    const { answer, records } = await ask(row, 'modern', 'tasks/cancel', { taskId });
    expect(answer).toEqual({ result: { resultType: 'complete', _meta: serverInfo } });
    expect(records.get(taskId)).toEqual(
      row.over === undefined ? expect.objectContaining({ status: 'cancelled' }) : row.record,
    );
  });
});

describe('a new task', () => {
  const fields = { taskId: expect.any(String), status: 'working', createdAt: at(40), lastUpdatedAt: at(40) };
  const params = { name: 'required', arguments: {} };

  test('of 2025-11-25: nested, with a text for the model (C-07, C-13, F-07)', async () => {
    const { answer } = await ask(rowOf('working'), 'legacy', 'tools/call', { ...params, task: {} });
    const text = { 'io.modelcontextprotocol/model-immediate-response': expect.stringContaining('required') };
    expect(answer).toEqual({ result: { task: { ...fields, ttl: 3_600_000, pollInterval: 3_000 }, _meta: text } });
  });

  test('of 2026-07-28: flat (E-06, F-07)', async () => {
    const { answer } = await ask(rowOf('working'), 'modern', 'tools/call', params);
    const envelope = { resultType: 'task', _meta: serverInfo };
    expect(answer).toEqual({ result: { ...fields, ttlMs: 3_600_000, pollIntervalMs: 3_000, ...envelope } });
  });
});

describe('what a tool returned, as both revisions hand it over (A-21, B-14, F-08)', () => {
  const content = [{ type: 'text', text: 'hi' }];
  const text = (json: string) => [{ type: 'text', text: json }];
  const meta = { 'a.example/x': 1, 'io.modelcontextprotocol/related-task': { taskId: 'other' } };
  test.each<[string, object, object]>([
    ['"hi"', { content }, {}],
    ['null', { content: [] }, {}],
    ['[1,2]', { content: text('[1,2]') }, { structuredContent: [1, 2] }],
    ['5', { content: text('5') }, { structuredContent: 5 }],
    ['{"a":null}', { content: text('{"a":null}'), structuredContent: { a: null } }, {}],
    [JSON.stringify({ content, structuredContent: [1] }), { content }, { structuredContent: [1] }],
    [JSON.stringify({ content, structuredContent: { a: 1 } }), { content, structuredContent: { a: 1 } }, {}],
    [JSON.stringify({ content, resultType: 'task', ttlMs: 5 }), { content }, {}],
  ])('%s', async (returned, both, modernOnly) => {
    const row: Row = { ...rowOf('completed, with a result'), record: set({ status: 'completed', result: returned }) };
    const legacy = await ask(row, 'legacy', 'tasks/result', { taskId });
    expect(legacy.answer).toEqual({ result: { ...both, _meta: related } });
    const modern = await ask(row, 'modern', 'tasks/get', { taskId });
    expect(modern.answer.result.result).toEqual({ ...both, ...modernOnly, resultType: 'complete' });
  });

  test('its own metadata stays, and the server sets the metadata of the protocol', async () => {
    const result = JSON.stringify({ content, _meta: meta });
    const row: Row = { ...rowOf('completed, with a result'), record: set({ status: 'completed', result }) };
    const legacy = await ask(row, 'legacy', 'tasks/result', { taskId });
    expect(legacy.answer).toEqual({ result: { content, _meta: { 'a.example/x': 1, ...related } } });
    const modern = await ask(row, 'modern', 'tasks/get', { taskId });
    expect(modern.answer.result.result).toEqual({ content, resultType: 'complete', _meta: { 'a.example/x': 1 } });
  });
});
