import { expect, test } from 'vitest';
import { startAgain } from '../../../../functions/engine/start-round.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { roundInput } from '../../../../functions/tasks/workflow.ts';
import { record } from '../applied.ts';

/** The input of the execution that a restart of this record begins. */
async function inputOf(of: TaskRecord) {
  const inputs: string[] = [];
  const start = async (_record: TaskRecord, _machine: string, input: string) => void inputs.push(input);
  const whole = async (slim: TaskRecord): Promise<TaskRecord> => ({ ...slim, arguments: '{}' });
  const workflow = { start, stop: async () => {} };
  const machineOf = () => ({ id: 'machine', express: false });
  expect(await startAgain(of, { machineOf, workflow, inputs: { whole, put: async () => {} } })).toBe('started');
  return JSON.parse(inputs[0] ?? '');
}

test('a round keeps its arguments in the record, unless they are in S3', async () => {
  expect(JSON.parse(roundInput(record(), '{}') ?? '')).not.toHaveProperty('keepArguments');
  expect(JSON.parse(roundInput(record(), '{}', false) ?? '')).toHaveProperty('keepArguments', false);
  expect(await inputOf(record())).not.toHaveProperty('keepArguments');
  expect(await inputOf(record({ inputRef: 'a.1' }))).toHaveProperty('keepArguments', false);
});
