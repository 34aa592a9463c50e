import { expect, test } from 'vitest';
import { type Answering, signal } from '../../../functions/engine/signal.ts';
import { newTaskKey } from '../../../functions/tasks/ids.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';
import { memoryEngine } from '../../support/engine/memory.ts';

const T0 = 1_700_000_000_000;
const task = { tool: 't', ttl: 3_600_000, timeout: 60_000, accepts: ['elicitation/create'], legacy: false };
const made = create(newTaskKey({ kind: 'anonymous' }, T0), task, T0);
const question = {
  method: 'elicitation/create',
  params: { message: '?', requestedSchema: { type: 'object', properties: {} } },
};
const asking: TaskRecord = {
  ...made,
  ...{ status: 'input_required', arguments: '{}', inputResponses: {} },
  asked: JSON.stringify({ inputRequests: { a: question, b: question } }),
};
const YES = { action: 'accept', content: {} };

/** What answers to this task result in. */
async function outcomeOf(record: TaskRecord, responses: object, more: Partial<Answering> = {}, after = 0) {
  const engine = memoryEngine(() => T0 + after);
  engine.records.set(record);
  const context = { ...engine, toolEngine: () => 'standard' as const, log: () => {}, now: () => T0 + after };
  const start = async () => {
    if (after < 0) throw new Error('no start');
    return undefined;
  };
  const read = () => engine.store.get(record);
  const answering: Answering = {
    ...{ read, responses: () => responses as never, invalid: 'refuse', sleep: async () => {} },
    ...more,
  };
  return signal(answering, { ...context, workflow: { ...engine.workflow, start } });
}

test('answers to no open question are left out, also where no one counts them', async () => {
  const counted: number[] = [];
  const ignored = (_record: TaskRecord, count: number) => void counted.push(count);
  const responses = { 'r1.x': YES, 'r1.a': YES };
  for (const more of [{}, { ignored }]) {
    expect(await outcomeOf(asking, responses, more)).toMatchObject({ outcome: 'stored', open: ['r1.b'] });
  }
  expect([counted, await outcomeOf(asking, {})]).toMatchObject([[1], { outcome: 'nothing' }]);
});

test('the last answer begins the next round, and says why its run could not be started', async () => {
  const responses = { 'r1.a': YES, 'r1.b': YES };
  const round = { outcome: 'round', record: { status: 'working', round: 2 } };
  expect(await outcomeOf(asking, responses)).toMatchObject({ ...round, start: 'started' });
  expect(await outcomeOf(asking, responses, {}, -1)).toMatchObject({
    ...round,
    start: { error: new Error('no start') },
  });
});

test('an answer after the deadline fails its task, and one to a task that works is nothing', async () => {
  const late = await outcomeOf(asking, { 'r1.a': YES }, {}, 60_001);
  expect(late).toMatchObject({ outcome: 'late', record: { status: 'failed' } });
  expect(await outcomeOf({ ...asking, status: 'working' }, { 'r1.a': YES })).toMatchObject({ outcome: 'nothing' });
  const again = await outcomeOf({ ...asking, status: 'working', round: 2 }, {});
  expect(again).toMatchObject({ outcome: 'nothing', start: 'started' });
});
