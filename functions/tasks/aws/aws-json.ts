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
}

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
  const { service, target, version, region, requestTimeout, attempts } = options;
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
    if (status === 200) return JSON.parse(text || '{}');
    // Never the message of AWS: it quotes names and inputs.
    throw Object.assign(new Error(`${service} refused ${operation}`), {
      name: answer.headers['x-amzn-errortype']?.replace(/:.*$/, '') ?? errorType(text),
      $metadata: { httpStatusCode: status, requestId: answer.headers['x-amzn-requestid'] },
    });
  };
  return async (operation, input, isFinal = () => false) => {
    const body = Buffer.from(JSON.stringify(input));
    for (let tried = 1; ; tried++) {
      try {
        return await attempt(operation, body);
      } catch (thrown) {
        const error = thrown as Failure;
        error.$metadata = { ...error.$metadata, attempts: tried };
        const pause = retryPause(error);
        if (pause === undefined || tried >= attempts || isFinal(error)) throw error;
        await sleep(Math.random() * pause * 2 ** (tried - 1));
      }
    }
  };
}

/** How long the AWS clients wait at most before the first retry, in ms. Undefined: a retry is of no use. */
function retryPause(error: Failure): number | undefined {
  if (isThrottlingError(error as SdkError)) return 500;
  return isTransientError(error as SdkError) || (error.$metadata.httpStatusCode ?? 0) >= 500 ? 100 : undefined;
}

type SdkError = Parameters<typeof isThrottlingError>[0];

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** The name of an error in the body of an answer, such as `com.amazonaws.sfn#ExecutionDoesNotExist`. */
function errorType(text: string): string {
  return /"__type"\s*:\s*"(?:[\w.]+#)?(\w+)/.exec(text)?.[1] ?? 'AwsError';
}
