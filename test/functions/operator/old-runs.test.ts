import { describe, expect, test } from 'vitest';
import type { OperatorContext, States } from '../../../functions/operator/context.ts';
import { firstInputOf } from '../../../functions/operator/payload.ts';
import { runOf } from '../../../functions/operator/runs.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';
import { fakeClient } from '../../support/aws-client.ts';

const now = Date.parse('2026-11-22T12:00:00Z');
const machineArn = 'arn:aws:states:r:1:stateMachine:s-x';
const task = { tool: 'x', ttl: 3_600_000, timeout: 60_000, accepts: [], legacy: false };
const record = create({ owner: 'o', taskId: 'a' }, task, now);

/** A Step Functions that has one run of that name, started so many ms after the task was created. */
const started = (after: number, describes = true): States => {
  const found = {
    ...{ name: 'a-r1', status: 'SUCCEEDED', startDate: new Date(now + after) },
    input: JSON.stringify({ arguments: '{"of":"run"}', inputResponses: { first: 1 } }),
  };
  return fakeClient(async (operation) => {
    if (operation === 'ListExecutions') return { executions: [found] };
    if (operation === 'GetExecutionHistory') return { events: [] };
    if (describes) return found;
    throw Object.assign(new Error('no'), { name: 'AccessDeniedException' });
  });
};
const DAY = 86_400_000;

describe('the run of an older task under the same idempotency key', () => {
  test.each([true, false])('is not one of this task (it can be described: %s)', async (describes) => {
    expect(await runOf(record, 1, machineArn, started(-2 * DAY, describes))).toMatchObject({ status: 'missing' });
    // Clocks differ.
    expect(await runOf(record, 1, machineArn, started(-1_000, describes))).toMatchObject({ status: 'SUCCEEDED' });
  });

  const inputOf = (states: States, more = {}) => {
    const server = { machineArnPrefix: machineArn.replace(/x$/, '') };
    return firstInputOf({ ...record, ...more }, { server, states } as unknown as OperatorContext);
  };

  test('does not say what this task was called with', async () => {
    expect(await inputOf(started(-2 * DAY))).toBeUndefined();
    expect(await inputOf(started(50))).toEqual({ arguments: '{"of":"run"}', inputResponses: { first: 1 } });
  });

  test.each(['arguments', 'kept'])('what the record itself keeps as %s counts first', async (name) => {
    const own = { [name]: '{"of":"record"}' };
    expect(await inputOf(started(-2 * DAY), own)).toEqual({ arguments: '{"of":"record"}', inputResponses: {} });
    expect(await inputOf(started(50), own)).toEqual({ arguments: '{"of":"record"}', inputResponses: { first: 1 } });
  });
});
