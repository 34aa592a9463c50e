import { afterEach, expect, test, vi } from 'vitest';
import { AwsError } from '../../aws-error.ts';
import { deliver } from '../../events/delivery.ts';
import { scheduledEvent } from '../../events/event.ts';
import type { Rule, Target } from '../../events/rules.ts';
import { noFaults } from '../../faults/index.ts';
import type { Iam } from '../../iam/index.ts';
import type { InvokeResult, Lambda } from '../../lambda/index.ts';
import { createQueues } from '../../sqs/queues.ts';

const rule: Rule = {
  logicalId: 'Tick',
  name: 'Tick',
  arn: 'arn:rule',
  account: '123456789012',
  region: 'eu-west-1',
  bus: 'default',
  everyMs: undefined,
  matches: undefined,
  targets: [],
};
const event = scheduledEvent(rule, 0);
const throttled = new AwsError('TooManyRequestsException', 'Rate Exceeded.', 429);
const failed: InvokeResult = { statusCode: 200, payload: '{}', executedVersion: '$LATEST', functionError: 'Unhandled' };

afterEach(() => vi.restoreAllMocks());

/**
 * Delivers to a Lambda that answers with these errors, one after the other, before it takes the event. Only pauses let time
 * pass, and they take none.
 */
async function delivery(errors: Error[], more: Partial<Target> = {}, timeScale = 1, may?: Iam['mayService']) {
  const sent: string[] = [];
  const lambda: Pick<Lambda, 'invoke'> = {
    async invoke(_name, payload, options) {
      const error = errors[sent.push(payload) - 1];
      if (error) throw error;
      options?.onAttempt?.(failed);
      return { statusCode: 202, payload: '', executedVersion: '$LATEST' };
    },
  };
  const queues = createQueues({ standard: [{ name: 'dead', arn: 'arn:dead' }] }, { now: () => 7 });
  const target = {
    kind: 'function' as const,
    arn: 'arn:fn',
    maximumRetryAttempts: 185,
    maximumEventAgeSeconds: 86_400,
    ...more,
  };
  let time = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => time);
  const pause = async (milliseconds: number) => {
    time += milliseconds;
  };
  const errorsSeen: string[] = [];
  const onError = (message: string) => errorsSeen.push(message);
  const iam = may && { iam: { mayService: may } };
  const options = { lambda, queues, bench: noFaults, timeScale, pause, onError, ...iam };
  const result = await deliver(rule, target, event, options);
  return { sent, result, dead: queues.messages.get('dead'), errors: errorsSeen };
}
const deadLetterArn = 'arn:dead';

test('the function gets the event, or the constant input instead', async () => {
  expect((await delivery([])).sent).toEqual([JSON.stringify(event)]);
  expect((await delivery([], { input: '{"a":1}' })).sent).toEqual(['{"a":1}']);
});

test('a function that fails is not a failed delivery', async () => {
  const { sent, result, dead } = await delivery([], { deadLetterArn });
  expect([sent.length, result, dead]).toEqual([1, failed, []]);
});

test('an event that Lambda refuses for now is delivered again', async () => {
  const broken = new AwsError('ServiceException', 'no', 500);
  const { sent, result, dead } = await delivery([throttled, broken, new Error('ECONNRESET')], { deadLetterArn });
  expect([sent.length, result, dead]).toEqual([4, failed, []]);
});

test.each([
  [throttled, 'THROTTLING', 'Rate Exceeded.'],
  [new AwsError('ServiceException', 'no', 500), 'ERROR_FROM_TARGET', 'no'],
  [new Error('gone'), 'SDK_CLIENT_ERROR', 'gone'],
])('after its retries it goes to the dead letter queue: %s', async (error, code, message) => {
  const { sent, result, dead, errors } = await delivery([error, error, error, error], {
    deadLetterArn,
    maximumRetryAttempts: 2,
  });
  expect([sent.length, result]).toEqual([3, undefined]);
  const attributes = {
    RULE_ARN: 'arn:rule',
    TARGET_ARN: 'arn:fn',
    ERROR_CODE: code,
    ERROR_MESSAGE: message,
    EXHAUSTED_RETRY_CONDITION: 'MaximumRetryAttempts',
    RETRY_ATTEMPTS: '2',
  };
  expect(dead).toEqual([{ body: JSON.stringify(event), attributes, sentAt: 7 }]);
  expect(errors).toEqual([expect.stringContaining('gave up an event of the rule Tick')]);
});

test('an event that Lambda refuses for good goes there at once', async () => {
  const { sent, dead } = await delivery([new AwsError('ResourceNotFoundException', 'no function', 404)], {
    deadLetterArn,
  });
  expect(sent).toHaveLength(1);
  expect(dead?.[0]?.attributes).toMatchObject({ ERROR_CODE: 'NO_RESOURCE', RETRY_ATTEMPTS: '0' });
  expect(dead?.[0]?.attributes).not.toHaveProperty('EXHAUSTED_RETRY_CONDITION');
});

test('an event that got too old goes there, too', async () => {
  const errors = Array.from({ length: 20 }, () => throttled);
  // Scaled: pauses of 1, 2, 4 … ms, and an age of 6 ms.
  const { sent, dead } = await delivery(errors, { deadLetterArn, maximumEventAgeSeconds: 6 }, 1000);
  expect(sent.length).toBeLessThan(10);
  expect(dead?.[0]?.attributes).toMatchObject({ EXHAUSTED_RETRY_CONDITION: 'MaximumEventAgeInSeconds' });
});

test('without a dead letter queue it is dropped', async () => {
  const { sent, dead } = await delivery([throttled], { maximumRetryAttempts: 0 });
  expect([sent.length, dead]).toEqual([1, []]);
});

test('a function that has not permitted the rule gets one attempt', async () => {
  const asked: unknown[] = [];
  const { sent, dead } = await delivery([], { deadLetterArn }, 1, (...call) => {
    asked.push(call);
    return call[1] === 'sqs:SendMessage';
  });
  expect(asked).toEqual([
    ['events.amazonaws.com', 'lambda:InvokeFunction', 'arn:fn', 'arn:rule'],
    ['events.amazonaws.com', 'sqs:SendMessage', deadLetterArn, 'arn:rule'],
  ]);
  expect(sent).toEqual([]);
  expect(dead).toMatchObject([{ attributes: { ERROR_CODE: 'NO_PERMISSIONS', RETRY_ATTEMPTS: '0' } }]);
});

test('a queue that has not permitted the rule stays empty', async () => {
  const { dead, errors } = await delivery([], { deadLetterArn }, 1, () => false);
  expect(dead).toEqual([]);
  expect(errors).toContain('EventBridge may not send to the dead letter queue of the rule Tick');
});
