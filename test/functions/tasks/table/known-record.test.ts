import { describe, expect, test } from 'vitest';
import type { Status, TaskRecord } from '../../../../functions/tasks/record.ts';
import { RECORD_VERSION } from '../../../../functions/tasks/record.ts';
import { isKnown, known } from '../../../../functions/tasks/table/known-record.ts';
import { taskIn } from '../../../contract/tasks.ts';

const STATUSES: readonly Status[] = ['working', 'waiting', 'input_required', 'completed', 'failed', 'cancelled'];
const whole = taskIn('working');

describe('a record', () => {
  test.each(STATUSES)('of this release is known: %s', (status) => {
    const record = taskIn(status);
    expect(record.version).toBe(RECORD_VERSION);
    expect(known({ ...record })).toEqual(record);
  });

  test.each<[string, object]>([
    ['of a later version', { version: RECORD_VERSION + 1 }],
    ['without a version', { version: undefined }],
    ['with a version that is not a number', { version: '1' }],
    ['with an unknown status', { status: 'paused' }],
    ['with a status from a prototype', { status: 'constructor' }],
    ['without createdAt', { createdAt: undefined }],
    ['without ttl', { ttl: undefined }],
    ['without a deadline', { deadlineAt: undefined }],
    ['without a tool', { tool: undefined }],
    ['with a round that is not a number', { round: 'x' }],
    ['with a result that is not text', { result: { content: [] } }],
    ['with answers that are no texts', { inputResponses: { 'r1.a': { action: 'accept' } } }],
    ['with a progress token that is neither text nor number', { progressToken: {} }],
    ['with a status message that is no text', { statusMessage: 7 }],
  ])('%s is not: it says so for itself', (_name, change) => {
    const record = { ...whole, ...change } as unknown as TaskRecord;
    expect(isKnown(record)).toBe(false);
    expect(() => known({ ...record })).toThrow(
      expect.objectContaining({ code: -32603, data: { reason: 'RecordUnknown', taskId: whole.taskId } }),
    );
  });

  test.each(['t', 7])('with the progress token %j is known', (progressToken) => {
    expect(isKnown({ ...whole, progressToken })).toBe(true);
  });

  test('that is only what an update made of a key that was not there is not known', () => {
    expect(isKnown({ owner: 'o', taskId: 't', statusMessage: 'Step 3 of 7', updatedAt: 1 })).toBe(false);
  });
});
