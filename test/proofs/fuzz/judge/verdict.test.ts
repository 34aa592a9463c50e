import { expect, test } from 'vitest';
import { unaskable } from '../../../../functions/tasks/deadlines.ts';
import { failure } from '../../../../functions/tasks/failures.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { updateExpression } from '../../../../functions/tasks/table/store.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import type { Change } from '../../../../functions/tasks/transitions/change.ts';
import { cancel, fail } from '../../../../functions/tasks/transitions/end.ts';
import { toItem } from '../../../support/engine/values.ts';
import { isVerdict } from './verdict.ts';

const made = { tool: 't', ttl: 60_000, timeout: 60_000, accepts: [], legacy: false };
const record: TaskRecord = {
  ...create({ owner: 'o', taskId: 't' }, made, 1_700_000_000_000),
  status: 'input_required',
  asked: '{"inputRequests":{"a":{"method":"roots/list"}}}',
};
const verdict = unaskable(record) as Change;

function write(change: Change, more: object = {}) {
  const { ExpressionAttributeValues, ...update } = updateExpression(change, 't', 'endpoint');
  const Key = toItem({ owner: 'o', taskId: 't' });
  const values = toItem(ExpressionAttributeValues);
  return { TableName: 'x', Key, ...update, ExpressionAttributeValues: values, ReturnValues: 'NONE', ...more };
}

test('the write of a verdict that a reader found is distinct from all others', () => {
  expect(isVerdict('UpdateItem', write(verdict))).toBe(true);
});

test.each<[string, string, object]>([
  ['a put', 'PutItem', write(verdict)],
  ['a cancel', 'UpdateItem', write(cancel(1))],
  ['another failure', 'UpdateItem', write(fail(failure('InputLost'), 1))],
  ['a failure from any status', 'UpdateItem', write({ ...verdict, from: ['working', 'input_required'] })],
  ['a failure with another message', 'UpdateItem', write({ ...verdict, set: { ...verdict.set, statusMessage: 'y' } })],
  ['a failure that sets more', 'UpdateItem', write({ ...verdict, set: { ...verdict.set, ttl: 1 } })],
  ['a failure that removes less', 'UpdateItem', write({ ...verdict, remove: [] })],
  [
    'a failure without its condition',
    'UpdateItem',
    write(verdict, { ConditionExpression: 'attribute_exists(taskId)' }),
  ],
  ['a start that quotes it', 'StartExecution', { input: JSON.stringify(write(verdict)) }],
])('%s is not a verdict', (_, operation, input) => {
  expect(isVerdict(operation, input)).toBe(false);
});
