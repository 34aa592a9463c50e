import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Call } from '../../../../functions/mcp/context.ts';
import { type HeldCall, holdFor, openHeld } from '../../../../functions/mcp/stream/held-call.ts';
import { hold, logMessage, progressMessage } from '../../../../functions/mcp/stream/hold.ts';
import { legacyWire } from '../../../../functions/mcp/wire/2025-11-25.ts';
import { modernWire } from '../../../../functions/mcp/wire/2026-07-28.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { inputStore } from '../../../../functions/tasks/s3/input-store.ts';
import { moved } from '../../../../functions/tasks/s3/moved-input.ts';
import { LOG_LEVELS } from '../../../../functions/tasks/table/session-notes.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { fakeServer, manifest } from '../support/fake-server.ts';

const T0 = 1_700_000_000_000;
const taskId = '1'.repeat(36);
const task = { tool: 'optional', ttl: 3_600_000, timeout: 3_600_000, accepts: ['elicitation/create'], legacy: true };
const form = {
  method: 'elicitation/create',
  params: { message: '?', requestedSchema: { type: 'object', properties: {} } },
};
const waiting = { status: 'input_required', asked: JSON.stringify({ inputRequests: { sure: form } }) } as const;

beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));
afterEach(() => void vi.restoreAllMocks());

/** A task of Ann that works, and her stream. Time passes only while the server sleeps; `at` says what happens when. */
function setup(at: Readonly<Record<number, () => unknown>> = {}) {
  let now = T0;
  const due = Object.entries(at).map(([ms, run]) => ({ ms: Number(ms), run }));
  const fake = fakeServer({
    now: () => now,
    async sleep(ms) {
      now += ms;
      while (due[0] !== undefined && now >= T0 + due[0].ms) await due.shift()?.run();
    },
  });
  const change = (more: Partial<TaskRecord>) =>
    void fake.records.set({ ...(fake.records.get(taskId) as TaskRecord), ...more });
  fake.records.set(create({ owner: 'ann', taskId }, task, T0));
  const frames = async (delivers: 'call' | 'result', era: 'legacy' | 'modern' = 'legacy', params: object = {}) => {
    const call = {
      ...{
        wire: era === 'legacy' ? legacyWire : modernWire(manifest.serverInfo),
        accepts: task.accepts,
        id: 7,
        params,
      },
      ...{ principal: { kind: 'verified', key: 'ann', scopes: [] }, tasks: true, version: '2025-11-25' },
    } as unknown as Call;
    const start = holdFor(call, fake.records.get(taskId) as TaskRecord, delivers, fake.server);
    const all: string[] = [];
    for await (const frame of hold(start, call, fake.server)) {
      if (frame !== '') all.push(frame);
    }
    const data = all.flatMap((frame) => /^data: (\{.*\})$/m.exec(frame)?.[1] ?? []);
    return { all, call, messages: data.map((text) => JSON.parse(text)), elapsed: now - T0 };
  };
  return { ...fake, change, frames };
}

describe('a held call', () => {
  test('of a question that S3 gives late asks it late; one that it never gives ends in an error', async () => {
    const { record: slim, text } = moved({
      ...create({ owner: 'ann', taskId }, task, T0),
      ...waiting,
      arguments: '{}',
    });
    const here = setup({ 2000: () => delete here.objects.state.down });
    here.change(slim);
    await here.server.inputs.put(slim, text);
    // In another container, which remembers no text.
    Object.assign(here.server.inputs, inputStore(here.objects));
    here.objects.state.down = 'SlowDown';
    const late = await here.frames('result');
    expect(late.messages.map(({ method }) => method)).toEqual(['elicitation/create']);
    Object.assign(here.server.inputs, inputStore(here.objects));
    here.objects.state.down = 'SlowDown';
    const never = await here.frames('result');
    expect(never.messages).toMatchObject([{ id: 7, error: { code: -32603 } }]);
  });

  test('that is answered has an event id that resumes nothing (B-11)', async () => {
    const here = setup({ 1000: () => here.change({ status: 'completed', result: '1', updatedAt: T0 + 1 }) });
    const { all, call } = await here.frames('result');
    const eventId = /^id: (\S+)$/m.exec(all.at(-1) ?? '')?.[1] ?? '';
    expect(await openHeld(call, eventId, here.server)).toMatchObject({ answered: true });
  });

  test('waits for the inline window again after a question was answered', async () => {
    const here = setup({
      20000: () => here.change({ ...waiting, updatedAt: T0 + 1 }),
      40000: () => here.change({ status: 'working', round: 2, updatedAt: T0 + 2 }),
    });
    const { messages, elapsed } = await here.frames('call', 'legacy');
    expect(messages.map(({ method }) => method)).toEqual(['elicitation/create']);
    // It is resumed then, and not told that its tool still runs.
    expect(elapsed).toBe(manifest.holdCap);
  });

  test('sends one frame for each report, and no others', async () => {
    const here = setup({
      1000: () => here.change({ statusMessage: 'a', progress: 1, updatedAt: T0 + 1 }),
      2000: () => here.change({ status: 'completed', result: '1', updatedAt: T0 + 2 }),
    });
    const { all } = await here.frames('call', 'legacy', { _meta: { progressToken: 'p' } });
    expect(all.filter((frame) => !frame.startsWith(':'))).toHaveLength(3);
  });
});

const reported = (more: Partial<TaskRecord>) => ({ tool: 'x', ...more }) as TaskRecord;

describe('a report is a notification of progress (A-22, C-33)', () => {
  const sent = (held: Partial<HeldCall>, more: Partial<TaskRecord>) =>
    progressMessage({ progressToken: 7, progress: -1, ...held } as HeldCall, reported(more));
  const notification = (params: object) => ({
    jsonrpc: '2.0',
    method: 'notifications/progress',
    params: { progressToken: 7, ...params },
  });

  test.each<[string, Partial<HeldCall>, Partial<TaskRecord>, [object, number] | undefined]>([
    ['with its value', {}, { statusMessage: 'm', progress: 0 }, [{ progress: 0, message: 'm' }, 0]],
    [
      'with its total',
      {},
      { statusMessage: 'm', progress: 1, progressTotal: 4 },
      [{ progress: 1, total: 4, message: 'm' }, 1],
    ],
    ['counted, where it has no value', { progress: 3 }, { statusMessage: 'm' }, [{ progress: 4, message: 'm' }, 4]],
    ['not twice', { progress: 1 }, { statusMessage: 'm', progress: 1 }, undefined],
    ['not backwards', { progress: 2 }, { statusMessage: 'm', progress: 1 }, undefined],
    ['not without words', {}, { progress: 1 }, undefined],
  ])('%s', (_name, held, more, expected) => {
    expect(sent(held, more)).toStrictEqual(expected && { message: notification(expected[0]), value: expected[1] });
  });

  test('not for a client that sent no token', () => {
    expect(
      progressMessage({ progress: -1 } as HeldCall, reported({ statusMessage: 'm', progress: 1 })),
    ).toBeUndefined();
  });
});

describe('a report is a log message of level info', () => {
  test.each(LOG_LEVELS)('for a session that asked for %s, if that is no more severe', (level) => {
    const message = logMessage(level, reported({ statusMessage: 'm' }));
    const params = { level: 'info', logger: 'x', data: 'm' };
    const wanted = level === 'debug' || level === 'info';
    expect(message).toEqual(wanted ? { jsonrpc: '2.0', method: 'notifications/message', params } : undefined);
  });

  test('not for a session that asked for none, and not without words', () => {
    expect(logMessage(undefined, reported({ statusMessage: 'm' }))).toBeUndefined();
    expect(logMessage('debug', reported({}))).toBeUndefined();
  });
});
