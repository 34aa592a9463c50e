import { describe, expect, test } from 'vitest';
import { scheduledEvent, statusChangeEvent } from '../../events/event.ts';
import type { StatusChange } from '../../step-functions/index.ts';

const UUID = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
const at = Date.UTC(2026, 9, 1, 12, 30, 15, 250);
const started: StatusChange = {
  executionArn: 'arn:aws:states:eu-west-1:123456789012:execution:Machine:run',
  stateMachineArn: 'arn:aws:states:eu-west-1:123456789012:stateMachine:Machine',
  name: 'run',
  status: 'RUNNING',
  input: '{"a":1}',
  startDate: at - 1000,
};

describe('a status change', () => {
  test('has the shape of EventBridge when an execution starts', () => {
    expect(statusChangeEvent(started, at)).toEqual({
      version: '0',
      id: UUID,
      'detail-type': 'Step Functions Execution Status Change',
      source: 'aws.states',
      account: '123456789012',
      time: '2026-10-01T12:30:15Z',
      region: 'eu-west-1',
      resources: [started.executionArn],
      detail: {
        executionArn: started.executionArn,
        stateMachineArn: started.stateMachineArn,
        name: 'run',
        status: 'RUNNING',
        startDate: at - 1000,
        stopDate: null,
        input: '{"a":1}',
        output: null,
        stateMachineVersionArn: null,
        stateMachineAliasArn: null,
        redriveCount: 0,
        redriveDate: null,
        redriveStatus: 'NOT_REDRIVABLE',
        redriveStatusReason: 'Execution is RUNNING and cannot be redriven',
        inputDetails: { included: true },
        outputDetails: null,
        error: null,
        cause: null,
      },
    });
  });

  test('has the end of the execution', () => {
    const stopDate = at;
    const failed = statusChangeEvent({ ...started, status: 'FAILED', stopDate, error: 'E', cause: 'why' }, at);
    expect(failed.detail).toMatchObject({ status: 'FAILED', stopDate, error: 'E', cause: 'why', output: null });
    expect(failed.detail).toMatchObject({ redriveStatus: 'REDRIVABLE', redriveStatusReason: null });
    const succeeded = statusChangeEvent({ ...started, status: 'SUCCEEDED', stopDate, output: '"ok"' }, at);
    expect(succeeded.detail).toMatchObject({ output: '"ok"', outputDetails: { included: true }, error: null });
    expect(succeeded.detail).toMatchObject({ redriveStatusReason: 'Execution is SUCCEEDED and cannot be redriven' });
  });

  const text = (bytes: number) => JSON.stringify('x'.repeat(bytes - 2));
  const SIZES: [name: string, input: string, output: string | undefined, input_: boolean, output_: boolean | null][] = [
    ['keeps 248 KB of input', text(248 * 1024 - 4), undefined, true, null],
    ['leaves out more input', text(248 * 1024 - 3), undefined, false, null],
    ['leaves out the input where both are too much together', text(200_000), text(100_000), false, true],
    ['leaves out both where the output is too much alone', '{}', text(260_000), false, false],
    ['counts escaped text', JSON.stringify('"'.repeat(100_000)), undefined, false, null],
  ];
  test.each(SIZES)('%s', (_name, input, output, withInput, withOutput) => {
    const { detail } = statusChangeEvent({ ...started, input, ...(output !== undefined && { output }) }, at);
    expect(detail).toMatchObject({
      input: withInput ? input : null,
      inputDetails: { included: withInput },
      output: withOutput ? output : null,
      outputDetails: withOutput === null ? null : { included: withOutput },
    });
  });
});

test('a scheduled event names its rule', () => {
  const arn = 'arn:aws:events:eu-west-1:123456789012:rule/Tick';
  const source = { arn, account: '123456789012', region: 'eu-west-1' };
  expect(scheduledEvent(source, at)).toEqual({
    version: '0',
    id: UUID,
    'detail-type': 'Scheduled Event',
    source: 'aws.events',
    account: '123456789012',
    time: '2026-10-01T12:30:15Z',
    region: 'eu-west-1',
    resources: [arn],
    detail: {},
  });
});
