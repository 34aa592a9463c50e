import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { withQuestions } from '../../../functions/engine/read.ts';
import { startIfCrashed } from '../../../functions/engine/resume.ts';
import { startNext } from '../../../functions/engine/start-round.ts';
import { answerTask } from '../../../functions/mcp/methods/tasks-update.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { moved } from '../../../functions/tasks/s3/moved-input.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';
import { fakeServer } from '../mcp/support/fake-server.ts';

const now = 1_700_000_000_000;
const taskId = '0123456789abcdefghjkmnpqrstvwxyz0123';
const principal = { kind: 'verified', key: 'o' } as const;
const task = { tool: 'required', ttl: 3_600_000, timeout: 600_000, accepts: ['elicitation/create'], legacy: false };
const params = { message: 'm'.repeat(20_000), requestedSchema: { type: 'object', properties: {} } };
const asked = JSON.stringify({ inputRequests: { a: { method: 'elicitation/create', params } } });
const waiting: TaskRecord = {
  ...create({ owner: 'o', taskId }, task, now),
  ...{ status: 'input_required', asked, arguments: '{"n":1}' },
};
const YES = { action: 'accept', content: {} };
/** Where the log says that something failed, in the lines that the alarms tell operators to look for. */
const failures = () =>
  vi
    .mocked(console.error)
    .mock.calls.map(([line]) => JSON.parse(line))
    .flatMap(({ event, where }) => (event === 'unexpected_error' ? [where] : []));
const LOST = { status: 'failed', error: expect.stringContaining('InputLost') };

/** A server that starts with this record. */
function setup(record: TaskRecord) {
  const fake = fakeServer({ now: () => now });
  fake.records.set(record);
  return { ...fake, stored: () => fake.records.get(taskId) as TaskRecord };
}

/** With its input in S3, or nowhere. */
function away(record: TaskRecord, there = true) {
  const { record: slim, text } = moved(record);
  const made = setup(slim);
  if (there) made.server.inputs.put(slim, text);
  return made;
}

beforeEach(() => void vi.spyOn(console, 'error').mockReturnValue(undefined));
afterEach(() => vi.restoreAllMocks());

describe('input in S3 is read only', () => {
  const { record: slim } = moved(waiting);
  test.each<[string, TaskRecord]>([
    ['for a task that asks', { ...slim, status: 'working' }],
    ['where the record does not hold the questions', { ...slim, asked }],
  ])('%s', async (_name, record) => {
    const { server, objects } = setup(record);
    expect(await withQuestions(record, server)).toEqual(record);
    expect(objects.did).toEqual([]);
  });

  test('for an answer that a task waits for', async () => {
    const record: TaskRecord = { ...slim, status: 'completed', result: '1' };
    const { server, objects } = setup(record);
    expect(await answerTask(principal, taskId, { 'r1.a': YES }, 'refuse', server)).toEqual(record);
    expect(objects.did).toEqual([]);
  });
});

describe('an answer', () => {
  test('is not stored while S3 cannot take it', async () => {
    const { server, stored, objects } = setup({ ...waiting, asked: asked.replace(/m{9}m+/, 'm') });
    objects.state.down = 'SlowDown';
    const large = { ...YES, content: { note: 'n'.repeat(5_000) } };
    const answering = answerTask(principal, taskId, { 'r1.a': large }, 'refuse', server);
    await expect(answering).rejects.toMatchObject({ data: { reason: 'Unavailable' } });
    expect(stored()).toMatchObject({ status: 'input_required', inputResponses: {} });
    expect(failures()).toEqual(['storing input']);
  });
});

test('large answers are refused, or their round starts: nothing lies between', async () => {
  const large = { ...YES, content: { note: 'n'.repeat(70_000) } };
  const outcomes = new Set<string>();
  for (let bytes = 189_000; bytes < 190_500; bytes += 10) {
    const short = { ...waiting, arguments: JSON.stringify('x'.repeat(bytes)), asked: asked.replace(/m{9}m+/, 'm') };
    const { server, stored, did, executions } = setup(short);
    const answering = answerTask(principal, taskId, { 'r1.a': large }, 'refuse', server);
    const refused = await answering.then(
      () => false,
      (error: Error) => error.message.includes('256 KiB'),
    );
    // What the run gives its function besides: names of the table, the bucket and the API.
    for (const { input } of executions.all()) expect(Buffer.byteLength(input)).toBeLessThan(262_144 - 1_500);
    outcomes.add(
      refused ? `refused, ${stored().status}` : `${stored().status}, ${did.includes('start') ? '' : 'not '}started`,
    );
  }
  expect([...outcomes].toSorted()).toEqual(['refused, input_required', 'working, started']);
});

describe('input that is lost ends its task, which says so', () => {
  test('at a poll that shows the questions', async () => {
    const { server, stored } = away(waiting, false);
    expect(await withQuestions(stored(), server)).toMatchObject(LOST);
    expect(stored()).toMatchObject(LOST);
    expect(failures()).toEqual(['reading input']);
  });

  test('but not over what another request has written meanwhile', async () => {
    const { server, stored } = away(waiting, false);
    server.store.apply = async () => undefined;
    await expect(withQuestions(stored(), server)).rejects.toMatchObject({ data: { reason: 'Unavailable' } });
  });

  test('at an answer', async () => {
    const { server, stored } = away(waiting, false);
    expect(await answerTask(principal, taskId, { 'r1.a': YES }, 'refuse', server)).toMatchObject(LOST);
    expect(stored()).toMatchObject(LOST);
  });

  const answered: TaskRecord = { ...waiting, status: 'working', round: 2, updatedAt: now - 60_000 };

  test('but not in a later round, which may run: that is for the sweep to find out', async () => {
    const { server, stored, did, objects } = away(answered, false);
    const before = stored();
    await startIfCrashed([before], server);
    await expect(startNext(before, server)).rejects.toMatchObject({ data: { reason: 'Unavailable' } });
    expect(stored()).toEqual(before);
    expect(did).not.toContain('start');
    expect(failures()).toContain('starting a round');
    objects.state.down = 'SlowDown';
    await expect(startNext(before, server)).rejects.toMatchObject({ data: { reason: 'Unavailable' } });
  });

  test('but not while S3 is only out of reach: then the request says to try again', async () => {
    const { server, stored, objects } = away(waiting, false);
    objects.state.down = 'ECONNREFUSED';
    await expect(withQuestions(stored(), server)).rejects.toMatchObject({ data: { reason: 'Unavailable' } });
    expect(stored().status).toBe('input_required');
    expect(failures()).toEqual(['reading input']);
  });
});
