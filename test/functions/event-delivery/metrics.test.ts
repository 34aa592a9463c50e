import { afterEach, expect, test, vi } from 'vitest';
import type { Attempt } from '../../../functions/event-delivery/deliver.ts';
import { failureLines, logAttempt, measureLines } from '../../../functions/event-delivery/metrics.ts';
import { message, T0 } from './support.ts';

afterEach(() => vi.restoreAllMocks());

const attempt = { message: message(1), age: 1_500, failing: 60_000 } as const;

test.each<[Attempt, object]>([
  [
    { ...attempt, result: 'delivered', status: 204 },
    { EventsDelivered: 1, TimeToDelivery: 1_500 },
  ],
  [
    { ...attempt, result: 'failed', error: 'timeout' },
    { EventAttemptsFailed: 1, TimeDeliveryFails: 60_000 },
  ],
  [{ ...attempt, result: 'given_up', status: 410, error: 'http_4xx' }, { EventsGivenUp: 1 }],
])('the metrics of %j', (one, metrics) => {
  const [line = ''] = measureLines(one, 'S', T0);
  const { _aws, ...members } = JSON.parse(line);
  expect(members).toEqual({ Server: 'S', ...metrics });
  expect(_aws.CloudWatchMetrics[0].Dimensions).toEqual([['Server']]);
});

test.each([
  ['deliveries', { TimeDeliveryFails: 5 }],
  ['newEvents', { TimeLoggingFails: 5 }],
] as const)('the metric of a message of %s that could not be handled', (queue, metrics) => {
  const { _aws, ...members } = JSON.parse(failureLines(queue, 5, 'S', T0)[0] ?? '');
  expect(members).toEqual({ Server: 'S', ...metrics });
  expect(_aws.CloudWatchMetrics[0].Metrics[0].Unit).toBe('Milliseconds');
});

test('the line of an attempt names subscription, event and reason', () => {
  const log = vi.spyOn(console, 'log').mockReturnValue(undefined);
  logAttempt({ ...attempt, result: 'failed', error: 'http_5xx', status: 503 });
  expect(JSON.parse(String(log.mock.calls[0]?.[0]))).toEqual({
    ...{ event: 'delivery', result: 'failed', owner: 'owner#ann', subscriptionId: 'sub_1', eventId: 'evt_1' },
    ...{ status: 503, error: 'http_5xx', age: 1_500 },
  });
});
