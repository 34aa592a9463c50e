import { randomUUID } from 'node:crypto';
import { AwsError } from '../../aws-error.ts';
import { ConnectionLost, noFaults } from '../../faults/index.ts';
import { type JsonObject, objectOf, stringOf } from '../../json.ts';
import { runtimeExited } from '../../lambda/errors.ts';
import type { InvokeResult } from '../../lambda/index.ts';
import { type Integration, type IntegrationCall, StatesError } from '../index.ts';
import type { IntegrationOptions } from './options.ts';
import { withMetadata } from './sdk-answer.ts';

/** Marks an integration whose call begins when a worker gets it. If the process dies before that, no work is lost. */
const waiting = (integration: Integration): Integration => Object.assign(integration, { waits: true } as const);

/** `lambda:invoke` */
export const invokeLambda = (options: IntegrationOptions): Integration =>
  waiting(async (call) => {
    const result = await send(call, objectOf(call.arguments), options);
    const { statusCode, executedVersion, payload } = result;
    const output = { ExecutedVersion: executedVersion, Payload: outputOf(result), StatusCode: statusCode };
    const more = { 'X-Amz-Executed-Version': executedVersion };
    return withMetadata(output, Buffer.byteLength(payload), statusCode, more);
  });

/** The ARN of a function as the Resource: the arguments are its event, and its result is the result of the state. */
export const invokeByArn = (options: IntegrationOptions): Integration =>
  waiting(async (call) =>
    outputOf(await send(call, { FunctionName: call.resource, Payload: call.arguments }, options)),
  );

/** The text that executions on AWS show. */
const UNKNOWN_CAUSE = 'The cause could not be determined because Lambda did not return an error type.';

/** The parsed payload. Fails with the error of the function. */
function outputOf({ payload, functionError }: InvokeResult): unknown {
  const output: unknown = payload === '' ? null : JSON.parse(payload);
  if (functionError === undefined) return output;
  const name = stringOf(objectOf(output).errorType);
  if (name !== undefined) throw new StatesError(name, payload);
  throw new StatesError('Lambda.Unknown', `${UNKNOWN_CAUSE} Returned payload: ${payload}`);
}

async function send(call: IntegrationCall, input: JsonObject, options: IntegrationOptions): Promise<InvokeResult> {
  const { FunctionName, Qualifier = '$LATEST', Payload = {}, InvocationType = 'RequestResponse' } = input;
  const name = String(FunctionName);
  // Functions have no versions and no aliases here.
  if (Qualifier !== '$LATEST') refuseValue(call, 'Qualifier', Qualifier);
  if (InvocationType !== 'RequestResponse' && InvocationType !== 'Event') {
    refuseValue(call, 'InvocationType', InvocationType);
  }
  const payload = JSON.stringify(Payload);
  if (call.lost && InvocationType === 'RequestResponse') return workerDied();
  const facts = { caller: options.accessKeyOfRole(call.roleArn), service: 'lambda', operation: 'Invoke' } as const;
  const at = options.now();
  let kept = false;
  const keep = (status: number, error?: string) => {
    if (!kept) options.calls.add({ at, ...facts, input, status, error });
    kept = true;
  };
  const asked = { ...facts, worker: undefined, input: () => input };
  const run = async () => {
    const denied = options.iam?.denied(asked);
    if (denied) throw denied;
    const to = { signal: call.signal, event: InvocationType === 'Event', onWorker: call.begins };
    const result = await options.lambda.invoke(name, payload, to);
    keep(result.statusCode);
    return result;
  };
  try {
    return await (options.bench ?? noFaults).withFaults(asked, run);
  } catch (error) {
    if (error instanceof ConnectionLost) {
      keep(0, 'ConnectionLost');
      throw new StatesError('Lambda.SdkClientException', error.message);
    }
    if (!(error instanceof AwsError)) throw error;
    keep(error.status, error.type);
    throw new StatesError(lambdaErrorName(error.type), error.message);
  }
}

function refuseValue({ resource }: IntegrationCall, name: string, value: unknown): never {
  throw new StatesError('States.Runtime', `the embedded cloud does not know the ${name} ${value} of ${resource}`);
}

/** The name of an error in Lambda's model; an error outside of it gets the name of the service. */
const lambdaErrorName = (type: string): string =>
  type === 'AccessDeniedException' ? 'Lambda.AWSLambdaException' : `Lambda.${type}`;

/** The result of a worker that died with the process. The Retry of the machine decides whether the function runs again. */
function workerDied(): InvokeResult {
  const error = runtimeExited(randomUUID(), 'signal: killed');
  return { statusCode: 200, payload: JSON.stringify(error), functionError: 'Unhandled', executedVersion: '$LATEST' };
}
