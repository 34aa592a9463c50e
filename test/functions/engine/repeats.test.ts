import { expect, test } from 'vitest';
import { repeatFirst } from '../../../functions/engine/start-round.ts';
import type { ServerContext } from '../../../functions/mcp/context.ts';
import { cancelTask } from '../../../functions/mcp/methods/tasks-cancel.ts';
import { answerTask } from '../../../functions/mcp/methods/tasks-update.ts';
import { newTaskKey } from '../../../functions/tasks/ids.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';
import { fakeServer } from '../mcp/support/fake-server.ts';

const T0 = 1_700_000_000_000;
const principal = { kind: 'anonymous' } as const;
const task = { tool: 'required', ttl: 3_600_000, timeout: 300_000, accepts: ['elicitation/create'], legacy: false };
const made = create(newTaskKey(principal, T0), task, T0);

function setup(record: TaskRecord, now = T0, start?: ServerContext['workflow']['start']) {
  const workflow = start && { start, stop: async () => {} };
  const fake = fakeServer({ now: () => now, ...(workflow && { workflow }) });
  fake.records.set(record);
  return { ...fake, times: (what: string) => fake.did.filter((one) => one === what).length };
}

test('20 repeats of the last answer start its round once more, and no more (row 16)', async () => {
  const answered: TaskRecord = { ...made, round: 2, arguments: '{}', inputResponses: { 'r1.a': '{}' } };
  const { server, times } = setup(answered);
  for (let i = 0; i < 20; i++) await answerTask(principal, made.taskId, { 'r1.a': {} }, 'refuse', server);
  expect(times('start')).toBe(1);
});

test('a repeat of the last answer notes no start if its run has ended: the sweep does (row 16)', async () => {
  const answered: TaskRecord = { ...made, round: 2, arguments: '{}', inputResponses: { 'r1.a': '{}' } };
  const { server, records } = setup(answered, T0, async () => 'taken');
  await answerTask(principal, made.taskId, { 'r1.a': {} }, 'refuse', server);
  expect(records.get(made.taskId)).toEqual(answered);
});

test('20 repeats of a call under its key start its first round once more, and no more (row 6)', async () => {
  const { server, records, times } = setup({ ...made, digest: 'd', arguments: '{}' });
  const stored = () => records.get(made.taskId) ?? made;
  for (let i = 0; i < 20; i++) await repeatFirst(stored(), '{}', server);
  expect(times('start')).toBe(1);
});

test('20 repeats of a cancel stop no run: the sweep does, if the first did not (C-27, row 15)', async () => {
  const key = newTaskKey(principal, T0);
  const { server, times } = setup({ ...made, ...key, status: 'cancelled' }, T0 + 1);
  for (let i = 0; i < 20; i++) await cancelTask(principal, key.taskId, server);
  expect(times('stop')).toBe(0);
});
