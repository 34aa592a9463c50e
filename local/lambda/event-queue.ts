import { randomUUID } from 'node:crypto';
import { AwsError } from '../aws-error.ts';
import { createPauses } from '../time/timeout.ts';
import { type Job, newJob, wholeReply } from './job.ts';
import type { AsynchronousSettings, FunctionSpec, InvocationRecord, InvokeOptions, InvokeResult } from './types.ts';

export type EventQueue = ReturnType<typeof createEventQueue>;

interface EventQueueOptions {
  readonly spec: FunctionSpec;
  /** @param maxWaitMs how long the job may wait for a worker */
  readonly submit: (job: Job, maxWaitMs: number) => void;
  /** Factor on the pauses between attempts and on the age of an event. */
  readonly timeScale: number;
  readonly now: () => number;
  readonly log: (line: string) => void;
  readonly onGivenUp: (destinationArn: string, record: InvocationRecord) => void;
}

interface Queued {
  readonly id: string;
  readonly payload: string;
  /** The time when the event gets too old, by `performance.now()`. */
  readonly until: number;
}

/** "A one-minute wait between the first two attempts, and two minutes between the second and third." */
const RETRY_PAUSES = [60_000, 120_000];
/** "The retry interval increases exponentially from 1 second after the first attempt to a maximum of 5 minutes." */
const FIRST_BACKOFF = 1_000;
const LONGEST_BACKOFF = 300_000;
const LONGEST_WAIT = 2 ** 31 - 1;

/**
 * The asynchronous invocations of one function. Retries an event whose function fails, as Lambda does: twice by default.
 * Gives up then, or if the event is too old.
 */
export function createEventQueue(options: EventQueueOptions) {
  const { spec, submit, timeScale, log } = options;
  const { maximumRetryAttempts = 2, maximumEventAgeSeconds = 21_600 }: AsynchronousSettings = spec.asynchronous ?? {};
  const { pause, end } = createPauses();

  /** Runs one attempt; undefined if it was throttled. */
  const attempt = ({ id, payload, until }: Queued): Promise<InvokeResult | undefined> =>
    new Promise((resolve, reject) => {
      const refused = (error: unknown) => (isThrottled(error) ? resolve(undefined) : reject(error));
      const job = newJob(payload, 'buffered', wholeReply({ resolve, reject: refused }), { log, id });
      submit(job, Math.min(Math.max(0, until - performance.now()), LONGEST_WAIT));
    });

  /** Retries throttled attempts, which do not count; undefined if the event got too old before a worker took it. */
  const retryWhileThrottled = async (event: Queued): Promise<InvokeResult | undefined> => {
    for (let backoff = FIRST_BACKOFF; performance.now() < event.until; backoff *= 2) {
      const ended = await attempt(event);
      if (ended !== undefined) return ended;
      await pause(Math.min(backoff, LONGEST_BACKOFF) / timeScale);
    }
    return undefined;
  };

  const run = async (event: Queued, onAttempt: InvokeOptions['onAttempt']): Promise<void> => {
    let result: InvokeResult | undefined;
    let attempts = 0;
    while (attempts <= maximumRetryAttempts) {
      if (attempts > 0) await pause((RETRY_PAUSES[attempts - 1] ?? 0) / timeScale);
      if (performance.now() >= event.until) break;
      const ended = await retryWhileThrottled(event);
      onAttempt?.(ended);
      if (ended === undefined) break;
      if (ended.functionError === undefined) return;
      attempts++;
      result = ended;
    }
    const condition = attempts > maximumRetryAttempts ? 'RetriesExhausted' : 'EventAgeExceeded';
    giveUp(options, event, { condition, attempts, result });
  };

  return {
    add(payload: string, { onAttempt }: Pick<InvokeOptions, 'onAttempt'>): void {
      const until = performance.now() + (maximumEventAgeSeconds * 1000) / timeScale;
      run({ id: randomUUID(), payload, until }, onAttempt).catch((error: unknown) => {
        log(String(error));
        onAttempt?.(undefined);
      });
    },
    stop: end,
  };
}

const isThrottled = (error: unknown) => error instanceof AwsError && error.type === 'TooManyRequestsException';

interface End {
  readonly condition: InvocationRecord['requestContext']['condition'];
  readonly attempts: number;
  readonly result: InvokeResult | undefined;
}

function giveUp({ spec, now, log, onGivenUp }: EventQueueOptions, { id, payload }: Queued, end: End): void {
  const { condition, attempts, result } = end;
  log(`Event given up ${JSON.stringify({ requestId: id, condition })}`);
  const destination = spec.asynchronous?.onFailure;
  if (destination === undefined) return;
  const { statusCode = 200, executedVersion = '$LATEST', functionError } = result ?? {};
  onGivenUp(destination, {
    version: '1.0',
    timestamp: new Date(now()).toISOString(),
    requestContext: {
      requestId: id,
      functionArn: `${spec.arn}:$LATEST`,
      condition,
      approximateInvokeCount: attempts,
    },
    requestPayload: JSON.parse(payload || '{}'),
    ...(result && {
      responseContext: { statusCode, executedVersion, ...(functionError && { functionError }) },
      responsePayload: JSON.parse(result.payload),
    }),
  });
}
