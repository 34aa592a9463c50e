import { expect, test } from 'vitest';
import type { Workflow } from '../../../functions/engine/ports.ts';
import { startAgain } from '../../../functions/engine/start-round.ts';
import type { Engine } from '../../../functions/tasks/engines.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { roundInput } from '../../../functions/tasks/round-input.ts';
import { inputStore } from '../../../functions/tasks/s3/input-store.ts';
import { createObjects } from '../../support/engine/objects.ts';
import { record } from '../tasks/applied.ts';

/** The input of the execution that a restart of this record begins. */
async function inputOf(of: TaskRecord) {
  const inputs: string[] = [];
  const start = async (_record: TaskRecord, input: string) => void inputs.push(input);
  const whole = async (slim: TaskRecord): Promise<TaskRecord> => ({ ...slim, arguments: '{}' });
  const workflow = { start, stop: async () => {} };
  expect(await startAgain(of, { toolEngine: () => 'standard', workflow, inputs: { whole, put: async () => {} } })).toBe(
    'started',
  );
  return JSON.parse(inputs[0] ?? '');
}

test('a restart leaves the arguments where they are: in the record or in S3', async () => {
  expect(await inputOf(record())).toHaveProperty('keepArguments', false);
  expect(await inputOf(record({ inputRef: 'a.1' }))).toHaveProperty('keepArguments', false);
});

test('an answered round is started as it was asked, or is gone with its tool (row 16)', async () => {
  const started: unknown[] = [];
  const starts = (answer?: 'taken'): Workflow => ({
    start: async (...given) => {
      started.push(given);
      return answer;
    },
    stop: async () => {},
  });
  const answered = { ...record(), arguments: '{"n":1}' };
  const again = (task: Parameters<typeof startAgain>[0], workflow: Workflow, engine?: Engine) => {
    const toolEngine = () => engine;
    return startAgain(task, { toolEngine, workflow, inputs: inputStore(createObjects()) });
  };
  expect(await again(answered, starts(), 'standard')).toBe('started');
  expect(started).toEqual([[answered, roundInput(answered, '{"n":1}', false)]]);
  expect(await again(answered, starts('taken'), 'standard')).toBe('taken');
  expect(await again(answered, starts())).toBe('gone');
  expect(await again(record(), starts(), 'standard')).toBe('gone');
  expect(started).toHaveLength(2);
});
