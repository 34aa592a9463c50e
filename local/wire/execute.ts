import { AwsError } from '../aws-error.ts';
import { type CallFacts, ConnectionLost, type FaultBench, readInput } from '../faults/index.ts';
import type { Iam } from '../iam/index.ts';
import type { JsonObject } from '../json.ts';
import type { CallLog } from './call-log.ts';
import type { WireResponse, WireService } from './types.ts';

export interface ExecuteOptions {
  readonly calls: CallLog;
  readonly bench: Pick<FaultBench, 'withFaults'>;
  readonly iam: Pick<Iam, 'denied'>;
  readonly now: () => number;
  readonly onError: (message: string) => void;
}

/**
 * Executes a call and logs it with its answer, even if a fault prevents the execution.
 * @param refuse turns an error of AWS into an answer
 */
export async function executeCall(
  call: CallFacts,
  run: () => Promise<WireResponse>,
  refuse: (error: AwsError) => WireResponse,
  options: ExecuteOptions,
): Promise<WireResponse> {
  const at = options.now();
  const { service, operation, caller } = call;
  let logged = false;
  let answered: WireResponse | undefined;
  const log = ({ status, error, consumed }: Pick<WireResponse, 'status' | 'error' | 'consumed'>): void => {
    if (!logged && options.calls.enabled) {
      const made = { at, answeredAt: options.now(), caller, service, operation, input: readInput(call) };
      options.calls.add({ ...made, status, error, consumed });
    }
    logged = true;
  };
  const answerTo = (thrown: unknown) => (thrown instanceof AwsError ? refuse(thrown) : failure(thrown, options));
  const answer = async () => {
    const denied = options.iam.denied(call);
    answered = denied ? refuse(denied) : await run().catch(answerTo);
    log(answered);
    return answered;
  };
  try {
    return await options.bench.withFaults(call, answer);
  } catch (struck) {
    // A fault lost the answer.
    answered?.stream?.destroy();
    if (struck instanceof AwsError) {
      const refused = refuse(struck);
      log(refused);
      return refused;
    }
    if (struck instanceof ConnectionLost) log({ status: 0, error: 'ConnectionLost' });
    throw struck;
  }
}

/** Makes a call for another part of this cloud, with the rights of an access key and without a connection. */
export function callJson(
  service: WireService,
  operation: string,
  input: JsonObject,
  caller: string,
  options: ExecuteOptions,
): Promise<WireResponse> {
  const call = { caller, worker: undefined, service: service.name, operation, input: () => input };
  const run = () => service.handle({ operation, caller, headers: {}, body: Buffer.from(JSON.stringify(input)) });
  return executeCall(call, run, (error) => failure(error, options), options);
}

/** Writes an error in the form of AWS JSON. Any other than an AwsError is a failure of the embedded cloud. */
export function failure(thrown: unknown, options: Pick<ExecuteOptions, 'onError'>): WireResponse {
  if (!(thrown instanceof AwsError)) options.onError(thrown instanceof Error ? String(thrown.stack) : String(thrown));
  const { type, message, status } =
    thrown instanceof AwsError ? thrown : new AwsError('InternalFailure', 'the embedded cloud failed', 500);
  const headers = { 'content-type': 'application/x-amz-json-1.1' };
  return { status, headers, error: type, body: JSON.stringify({ __type: type, message }) };
}
