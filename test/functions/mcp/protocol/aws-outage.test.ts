import { afterEach, expect, test, vi } from 'vitest';
import { asTaskUnread, isOutage, isThrottled } from '../../../../functions/mcp/protocol/aws-outage.ts';
import { Unavailable } from '../../../../functions/tasks/errors.ts';

afterEach(() => void vi.restoreAllMocks());

const named = (name: string, more: object = {}) => Object.assign(new Error('x'), { name, ...more });

test.each<[string, unknown, boolean, boolean]>([
  ['a throttle', named('ThrottlingException'), true, true],
  ['a lost connection', Object.assign(new Error('x'), { code: 'ECONNRESET' }), true, false],
  ['a failure on the side of AWS', named('InternalError', { $metadata: { httpStatusCode: 503 } }), true, false],
  ['a refusal', named('AccessDeniedException', { $metadata: { httpStatusCode: 400 } }), false, false],
  ['an outage that is named already', new Unavailable(), true, false],
  ['a defect', new TypeError('x'), false, false],
  ['no error', { name: 'ThrottlingException' }, false, false],
])('%s: an outage: %s, in which nothing was done: %s', (_title, error, outage, throttled) => {
  expect([isOutage(error), isThrottled(error)]).toEqual([outage, throttled]);
});

test('an outage while a task is read names the task; what is none stays as it is (A-15)', () => {
  const said = vi.spyOn(console, 'error').mockReturnValue(undefined);
  const defect = new TypeError('x');
  expect(asTaskUnread(defect, 't')).toBe(defect);
  expect(said).not.toHaveBeenCalled();
  expect(asTaskUnread(named('ThrottlingException'), 't')).toMatchObject({ name: 'TaskUnread', data: { taskId: 't' } });
  expect(said).toHaveBeenCalledOnce();
});

test('an outage of S3 while a task is read names the task, too: the call must not be repeated', () => {
  vi.spyOn(console, 'error').mockReturnValue(undefined);
  expect(asTaskUnread(new Unavailable(), 't')).toMatchObject({ name: 'TaskUnread', data: { taskId: 't' } });
});
