import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { answerTask } from '../../../../functions/mcp/methods/tasks-update.ts';
import { newTaskKey } from '../../../../functions/tasks/ids.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { fakeServer } from '../support/fake-server.ts';

const T0 = 1_700_000_000_000;
const principal = { kind: 'anonymous' } as const;
const form = {
  method: 'elicitation/create',
  params: {
    message: '?',
    requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
  },
};
const task = { tool: 'required', ttl: 3_600_000, timeout: 300_000, accepts: [form.method], legacy: false };
const working = create(newTaskKey(principal, T0), task, T0);
const asks = (...names: string[]): TaskRecord => {
  const inputRequests = Object.fromEntries(names.map((name) => [name, form]));
  return { ...working, status: 'input_required', asked: JSON.stringify({ inputRequests }), arguments: '{}' };
};
const yes = { action: 'accept', content: { ok: true } };

beforeEach(() => void vi.spyOn(console, 'warn').mockImplementation(() => {}));
afterEach(() => void vi.restoreAllMocks());

/** A task and its client at a moment. `write` comes before each write, and may lose its race. */
function setup(record: TaskRecord, now = T0, write?: (attempt: number) => 'lost' | undefined) {
  const clock = { now };
  const slept: number[] = [];
  const fake = fakeServer({ now: () => clock.now, sleep: async (ms) => void slept.push(ms) });
  fake.records.set(record);
  const { apply } = fake.server.store;
  let attempts = 0;
  fake.server.store.apply = async (key, change) => (write?.(++attempts) === 'lost' ? undefined : apply(key, change));
  const send = (responses: Record<string, unknown>, invalid: 'refuse' | 'leave' = 'refuse') =>
    answerTask(principal, record.taskId, responses, invalid, fake.server);
  return { ...fake, clock, slept, send, reads: () => fake.did.filter((what) => what === 'get').length };
}

test('some of the answers are stored by one read and one write', async () => {
  const { send, did } = setup(asks('a', 'b'));
  expect(await send({ 'r1.a': yes })).toMatchObject({ status: 'input_required', round: 1 });
  expect(did).toEqual(['get', 'apply']);
});

test.each([T0, working.deadlineAt + limits.lateWrite + 1])(
  'an answer to a task that works in its first round changes nothing, at %i (E-18)',
  async (now) => {
    const { send, did } = setup(working, now);
    expect(await send({ 'r1.a': yes })).toEqual(working);
    expect(did).toEqual(['get']);
  },
);

test('an invalid answer is refused, or left out: then its question stays open', async () => {
  const { send, did, records } = setup(asks('a'));
  const invalid = { 'r1.a': { action: 'accept', content: { ok: 'perhaps' } } };
  await expect(send(invalid, 'refuse')).rejects.toThrow("inputResponses['r1.a']: ");
  expect(await send(invalid, 'leave')).toEqual(asks('a'));
  expect([did, records.get(working.taskId)]).toEqual([['get', 'get'], asks('a')]);
});

describe('an answer that loses its race to other writers', () => {
  test('is tried 25 times, each later than the last; what it ignored is logged once (F-09)', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const { send, slept, reads } = setup(asks('a'), T0, () => 'lost');
    await expect(send({ 'r1.a': yes, planted: yes })).rejects.toThrow('The task is changing too fast: try again');
    expect(reads()).toBe(25);
    expect(slept).toEqual(Array.from({ length: 25 }, (_, attempt) => 10 * attempt));
    expect(console.warn).toHaveBeenCalledOnce();
  });

  test('after the deadline is judged by the next read', async () => {
    const { send, reads } = setup(asks('a'), working.deadlineAt + 1, (attempt) => (attempt === 1 ? 'lost' : undefined));
    expect(await send({ 'r1.a': yes })).toMatchObject({ status: 'failed' });
    expect(reads()).toBe(2);
  });
});

test('an answer written after the deadline: its request sees the task as failed (row 17)', async () => {
  const { send, clock } = setup(asks('a'), working.deadlineAt, () => {
    clock.now = working.deadlineAt + limits.lateWrite + 1;
    return undefined;
  });
  expect(await send({ 'r1.a': yes })).toMatchObject({ status: 'failed', round: 2 });
});
