import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Call } from '../../../../functions/mcp/context.ts';
import { answerDue, answerMessage } from '../../../../functions/mcp/stream/answer-due.ts';
import type { HeldCall } from '../../../../functions/mcp/stream/held-call.ts';
import { legacyWire } from '../../../../functions/mcp/wire/2025-11-25.ts';
import { modernWire } from '../../../../functions/mcp/wire/2026-07-28.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { fakeServer, manifest } from '../support/fake-server.ts';

const NOW = 1_700_000_000_000;
const form = {
  method: 'elicitation/create',
  params: { message: '?', requestedSchema: { type: 'object', properties: {} } },
};
const task = { tool: 'optional', ttl: 3_600_000, timeout: 60_000, accepts: [form.method], legacy: true };
const working = create({ owner: 'o', taskId: 't' }, task, NOW);
const waiting = {
  ...working,
  status: 'input_required',
  asked: JSON.stringify({ inputRequests: { a: form } }),
} as const;
const ended = { ...working, status: 'completed', result: '"done"' } as const;

beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));
afterEach(() => void vi.restoreAllMocks());

function due(
  record: TaskRecord | undefined,
  delivers: HeldCall['delivers'],
  era: 'legacy' | 'modern',
  closesAt = NOW + 1,
) {
  const wire = era === 'legacy' ? legacyWire : modernWire(manifest.serverInfo);
  const call = { wire, accepts: [form.method], params: { name: 'optional' }, principal: { kind: 'anonymous' } };
  const held = { id: 7, taskId: 't', delivers, closesAt } as HeldCall;
  return answerDue(record, held, call as unknown as Call, fakeServer().server);
}
const content = [{ type: 'text', text: 'done' }];
const failedWith = (error: object) => ({ status: 'failed', error: JSON.stringify(error) }) as const;

/** What a client gets in both revisions once its task has ended so. */
const answers = (more: Partial<TaskRecord>) =>
  Promise.all(
    (['legacy', 'modern'] as const).map((era) =>
      Promise.resolve(due({ ...working, ...more }, 'call', era)?.()).catch((error: unknown) => error),
    ),
  );

describe('a task that is over answers as its call would have (C-16)', () => {
  test.each<[string, Partial<TaskRecord>, object]>([
    ['with content', { status: 'completed', result: '{"content":[]}' }, { content: [] }],
    [
      'with what is no result',
      { status: 'completed', result: '"done"', error: '{"data":{"kinds":["a"]}}' },
      { content },
    ],
    ['with nothing', { status: 'completed' }, { content: [] }],
    ['cancelled', { status: 'cancelled' }, { code: -32603, message: 'Task was cancelled' }],
    [
      'failed',
      failedWith({ code: -32602, message: 'm', data: { reason: 'r' } }),
      { code: -32602, data: { reason: 'r' } },
    ],
    ['failed, without an error', { status: 'failed' }, { code: -32603, message: 'The tool failed' }],
    ['failed, without a kind', failedWith({ code: 1, message: 'm', data: { kinds: [] } }), { code: 1, message: 'm' }],
  ])('%s', async (_name, more, answer) => {
    expect(await answers(more)).toMatchObject([answer, answer]);
  });

  test('a question that could not be asked names what to declare, in 2026-07-28 (D-10, D-22)', async () => {
    const data = { reason: 'InputNotSupported', kinds: ['roots/list'] };
    expect(await answers(failedWith({ code: -32603, message: 'm', data }))).toMatchObject([
      { code: -32603, message: 'm', data },
      {
        ...{ code: -32021, message: 'Tool optional asks for input: declare the capability roots' },
        data: { requiredCapabilities: { roots: {} } },
      },
    ]);
  });
});

describe('the answer of a held call is', () => {
  test.each(['call', 'result'] as const)('that its task is not found, of a %s', (delivers) => {
    expect(due(undefined, delivers, 'legacy')).toThrow('Task not found');
  });

  test('the result of its task, and with tasks/result the task, too (C-16, C-17)', async () => {
    const related = { _meta: { 'io.modelcontextprotocol/related-task': { taskId: 't' } } };
    expect(await due(ended, 'result', 'legacy')?.()).toEqual({ content, ...related });
    expect(await due(ended, 'call', 'legacy')?.()).toEqual({ content });
    expect(await due(ended, 'call', 'modern')?.()).toMatchObject({ content, resultType: 'complete' });
  });

  test('its questions in 2026-07-28; 2025-11-25 asks on the stream, and waits (D-20)', async () => {
    expect(await due(waiting, 'call', 'modern')?.()).toMatchObject({ resultType: 'input_required' });
    for (const delivers of ['call', 'result'] as const) {
      expect(due(waiting, delivers, 'legacy', NOW - 1)).toBeUndefined();
    }
  });

  test('that the tool still runs, once the inline window is over; tasks/result waits on', async () => {
    expect(due(working, 'call', 'legacy')).toBeUndefined();
    expect(await due(working, 'call', 'legacy', NOW)?.()).toMatchObject({
      content: [{ text: expect.stringContaining('is still running') }],
    });
    expect(due(working, 'result', 'legacy', NOW - 1)).toBeUndefined();
  });
});

test('an answer that throws is an error by the id of its call, and is logged (A-04, A-15)', async () => {
  const held = { id: 7, taskId: 't' } as HeldCall;
  expect(await answerMessage(held, () => ({ n: 1 }))).toEqual({ jsonrpc: '2.0', id: 7, result: { n: 1 } });
  const failed = await answerMessage(held, () => {
    throw new Error('planted');
  });
  expect(failed).toEqual({ jsonrpc: '2.0', id: 7, error: { code: -32603, message: 'Internal error' } });
  expect(JSON.parse(vi.mocked(console.error).mock.calls[0]?.[0])).toMatchObject({ where: 'held call' });
});
