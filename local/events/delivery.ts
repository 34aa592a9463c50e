import { AwsError } from '../aws-error.ts';
import { ConnectionLost, type FaultBench } from '../faults/index.ts';
import type { Iam } from '../iam/index.ts';
import type { InvokeResult, Lambda } from '../lambda/index.ts';
import type { Queues } from '../sqs/queues.ts';
import { type Event, OF_AWS } from './event.ts';
import type { Rule, Target } from './rules.ts';

export interface DeliveryOptions {
  readonly lambda: Pick<Lambda, 'invoke'>;
  readonly queues: Pick<Queues, 'send'>;
  readonly bench: Pick<FaultBench, 'strike'>;
  /** @default every call is allowed */
  readonly iam?: Pick<Iam, 'mayService'>;
  /** Divides the pauses between attempts and the age of an event. */
  readonly timeScale: number;
  readonly pause: (milliseconds: number) => Promise<void>;
  readonly onError: (message: string) => void;
}

// AWS backs off exponentially with jitter. It does not document the shortest and longest pause.
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 300_000;

/**
 * Delivers an event to a target: to a function by an asynchronous invocation, or to a queue. Retries while the target
 * refuses it for now. Puts it into the dead letter queue if the target refuses it permanently or for too long. Returns
 * the result of the first attempt of the invocation; undefined if there was no attempt.
 */
export async function deliver(
  rule: Rule,
  target: Target,
  event: Event,
  options: DeliveryOptions,
): Promise<InvokeResult | undefined> {
  const { timeScale, pause } = options;
  const until = performance.now() + (target.maximumEventAgeSeconds * 1000) / timeScale;
  for (let retries = 0; ; retries++) {
    try {
      return await attempt(rule, target, event, options);
    } catch (error) {
      const dead = { rule, target, event, error, retries };
      if (!isPassing(error)) return giveUp(dead, undefined, options);
      if (retries >= target.maximumRetryAttempts) return giveUp(dead, 'MaximumRetryAttempts', options);
      await pause(backoffMs(retries) / timeScale);
      if (performance.now() >= until) return giveUp(dead, 'MaximumEventAgeInSeconds', options);
    }
  }
}

async function attempt(rule: Rule, target: Target, event: Event, options: DeliveryOptions) {
  const call = { service: 'events', operation: 'Deliver', caller: rule.logicalId, worker: undefined } as const;
  const strike = (at: 'before' | 'after') => options.bench.strike({ ...call, input: () => event }, at);
  let double = false;
  try {
    double = (await strike('before'))?.includes('double') === true;
  } catch (struck) {
    // Step Functions documents its events as best effort. Events of clients are retried.
    if (struck instanceof ConnectionLost && String(event.source).startsWith(OF_AWS)) return undefined;
    throw struck;
  }
  if (!may(rule, ACTIONS[target.kind], target.arn, options)) {
    throw new AwsError('AccessDeniedException', `EventBridge may not ${ACTIONS[target.kind]}`, 403);
  }
  const hand = () => (target.kind === 'queue' ? enqueue(target, event, options) : invoke(target, event, options));
  const attempts = await Promise.all([hand(), ...(double ? [hand()] : [])]);
  await strike('after');
  const [first] = await Promise.all(attempts.map(({ ended }) => ended));
  return first;
}

const ACTIONS = { function: 'lambda:InvokeFunction', queue: 'sqs:SendMessage' } as const;

function may(rule: Rule, action: string, resource: string, { iam }: DeliveryOptions): boolean {
  return iam?.mayService('events.amazonaws.com', action, resource, rule.arn) ?? true;
}

/** Resolves when Lambda has accepted the event; `ended` resolves when its function has run. */
async function invoke(target: Target, event: Event, { lambda }: DeliveryOptions) {
  const { promise: ended, resolve: onAttempt } = Promise.withResolvers<InvokeResult | undefined>();
  await lambda.invoke(target.arn, target.input ?? JSON.stringify(event), { event: true, onAttempt });
  return { ended };
}

async function enqueue(target: Target, event: Event, { queues }: DeliveryOptions) {
  queues.send(target.arn, target.input === undefined ? event : JSON.parse(target.input));
  return { ended: undefined };
}

function backoffMs(retries: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** retries, LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2);
}

/** Whether a retry may help: EventBridge retries after 429 and 5xx. */
function isPassing(error: unknown): boolean {
  return !(error instanceof AwsError) || error.status === 429 || error.status >= 500;
}

interface Undelivered {
  readonly rule: Rule;
  readonly target: Target;
  readonly event: Event;
  readonly error: unknown;
  readonly retries: number;
}

function giveUp(undelivered: Undelivered, condition: string | undefined, options: DeliveryOptions): undefined {
  const { queues, onError } = options;
  const { rule, target, event, error, retries } = undelivered;
  onError(`EventBridge gave up an event of the rule ${rule.name}: ${String(error)}`);
  if (target.deadLetterArn === undefined) return;
  if (!may(rule, 'sqs:SendMessage', target.deadLetterArn, options)) {
    onError(`EventBridge may not send to the dead letter queue of the rule ${rule.name}`);
    return;
  }
  queues.send(target.deadLetterArn, event, {
    RULE_ARN: rule.arn,
    TARGET_ARN: target.arn,
    ERROR_CODE: errorCode(error),
    ERROR_MESSAGE: error instanceof Error ? error.message : String(error),
    ...(condition !== undefined && { EXHAUSTED_RETRY_CONDITION: condition }),
    RETRY_ATTEMPTS: String(retries),
  });
}

/** The documented error codes that can occur here. */
function errorCode(error: unknown): string {
  if (!(error instanceof AwsError)) return 'SDK_CLIENT_ERROR';
  if (error.status === 404) return 'NO_RESOURCE';
  if (error.status === 403) return 'NO_PERMISSIONS';
  return error.status === 429 ? 'THROTTLING' : 'ERROR_FROM_TARGET';
}
