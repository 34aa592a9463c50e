import { expect, test, vi } from 'vitest';
import { createEvents, lastSeen } from '../../../../functions/mcp/events/index.ts';
import { byDocumentClient } from '../../../../functions/tasks/aws/dynamodb.ts';

const all = { TASKS_TABLE: 't', EVENTS_QUEUE_URL: 'https://sqs.example/q.fifo', EVENTS_KEPT: '86400000' };
const db = byDocumentClient({ send: async () => ({}) });

test.each(Object.keys(all))('without the variable %s the endpoint does not start, and says its name', (name) => {
  expect(() => createEvents(db, { ...all, [name]: '' })).toThrow(name);
  expect([...createEvents(db, all).methods.keys()]).toHaveLength(4);
});

test('a note that cannot be written fails no request, and is tried again ten seconds later', async () => {
  const warned = vi.spyOn(console, 'warn').mockReturnValue(undefined);
  const clock = { now: 1_000_000 };
  const tries: string[] = [];
  const noteSeen = async (owner: string) => {
    tries.push(owner);
    throw new Error('no');
  };
  const seen = lastSeen({ noteSeen }, () => clock.now);
  await seen('owner#a');
  await seen('owner#a');
  clock.now += 10_000;
  await seen('owner#a');
  expect(tries).toHaveLength(2);
  expect(warned.mock.calls.map(([line]) => JSON.parse(String(line)).event)).toEqual(Array(2).fill('seen_unnoted'));
  warned.mockRestore();
});
