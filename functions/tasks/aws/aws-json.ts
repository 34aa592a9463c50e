import { isThrottlingError, isTransientError } from '@smithy/core/retry';
import { type AwsCredentials, signedRequests } from './signed-request.ts';

export interface AwsJsonOptions {
  /** As in signatures and in the names of hosts. */
  readonly service: string;
  /** What the header X-Amz-Target begins with. */
  readonly target: string;
  /** Of the protocol awsJson. */
  readonly version: '1.0' | '1.1';
  /** @default the public one of the region */
  readonly endpoint: string | undefined;
  readonly region: string;
  /** Of one attempt, in ms. */
  readonly requestTimeout: number;
  /** At most. */
  readonly attempts: number;
  /** @default those of the environment */
  readonly credentials?: () => Promise<AwsCredentials>;
  /** @default pauses of 100 and 500 ms, and no quota */
  readonly retries?: Retries;
}

/** How calls are tried again, in the terms of the AWS clients. */
export interface Retries {
  /** At most, before the first retry, in ms. It doubles with each retry. */
  readonly pause: number;
  /** The same after a throttle. */
  readonly throttlePause: number;
  /** Each retry takes some of it, and each success returns some: in a long outage no call is tried again. */
  readonly quota: number;
}

const RETRIES: Retries = { pause: 100, throttlePause: 500, quota: Number.POSITIVE_INFINITY };
/** What a retry takes of the quota (@smithy/core, `Retry`), and what a success at the first attempt returns. */
const COST = { retry: 14, throttled: 5, success: 1 };

/** Has the shape of an SDK error: its name and its status say whether a retry is worth it. */
interface Failure extends Error {
  $metadata: { httpStatusCode?: number; requestId?: string | undefined; attempts?: number };
}

/**
 * One operation. Rejects with an error that has the name AWS gave it, and `$metadata.attempts`: after more than one, an
 * earlier attempt may have been carried out. An error for which `isFinal` is true is not tried again.
 */
export type AwsJson = (
  operation: string,
  input: object,
  isFinal?: (error: Error) => boolean,
) => Promise<Readonly<Record<string, unknown>>>;

/** A service that speaks awsJson: retries as the AWS clients do, without the 20 KB of such a client in the bundle. */
export function awsJson(options: AwsJsonOptions): AwsJson {
  const { service, target, version, region, requestTimeout, attempts, retries = RETRIES } = options;
  const origin = new URL(options.endpoint ?? `https://${service}.${region}.amazonaws.com`);
  const request = signedRequests(service, origin, region, requestTimeout, options.credentials);

  const attempt = async (operation: string, body: Buffer) => {
    const headers = { 'content-type': `application/x-amz-json-${version}`, 'x-amz-target': `${target}.${operation}` };
    const patience = AbortSignal.timeout(requestTimeout);
    const answer = await request({ method: 'POST', path: '/', headers, body }, patience).catch((error: unknown) => {
      // The error of the request does not say why it was ended. A TimeoutError counts as an outage.
      patience.throwIfAborted();
      throw error;
    });
    const { status } = answer;
    const text = answer.body.toString();
    if (status === 200) return parsed(text || '{}', `${service} answered ${operation} with something that is no JSON`);
    // Never the message of AWS: it quotes names and inputs.
    throw Object.assign(new Error(`${service} refused ${operation}`), {
      name: answer.headers['x-amzn-errortype']?.replace(/:.*$/, '') ?? errorType(text),
      $metadata: { httpStatusCode: status, requestId: answer.headers['x-amzn-requestid'] },
    });
  };
  let quota = retries.quota;
  return async (operation, input, isFinal = () => false) => {
    const body = Buffer.from(JSON.stringify(input, base64));
    let paid = 0;
    for (let tried = 1; ; tried++) {
      try {
        const answer = await attempt(operation, body);
        quota = Math.min(retries.quota, quota + (paid || COST.success));
        return answer;
      } catch (thrown) {
        const error = thrown as Failure;
        error.$metadata = { ...error.$metadata, attempts: tried };
        const throttled = isThrottlingError(error as SdkError);
        paid = throttled ? COST.throttled : COST.retry;
        if (!(throttled || isFault(error)) || tried >= attempts || isFinal(error) || quota < paid) throw error;
        quota -= paid;
        await sleep(Math.random() * (throttled ? retries.throttlePause : retries.pause) * 2 ** (tried - 1));
      }
    }
  };
}

/** Whether AWS failed, or was out of reach. */
const isFault = (error: Failure): boolean =>
  isTransientError(error as SdkError) || (error.$metadata.httpStatusCode ?? 0) >= 500;

/** The error of `JSON.parse` quotes the text, which may be what a task holds. */
function parsed(text: string, message: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text);
  } catch {
    throw Object.assign(new Error(message), { name: 'SyntaxError', $metadata: { httpStatusCode: 200 } });
  }
}

/** How the protocol writes binary values. A Buffer has made itself something else before `value`. */
function base64(this: Readonly<Record<string, unknown>>, key: string, value: unknown): unknown {
  const given = this[key];
  return given instanceof Uint8Array ? Buffer.from(given).toString('base64') : value;
}

type SdkError = Parameters<typeof isThrottlingError>[0];

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** The name of an error in the body of an answer, such as `com.amazonaws.sfn#ExecutionDoesNotExist`. */
function errorType(text: string): string {
  return /"__type"\s*:\s*"(?:[\w.]+#)?(\w+)/.exec(text)?.[1] ?? 'AwsError';
}
