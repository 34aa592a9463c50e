import { randomUUID } from 'node:crypto';
import { SFNClient } from '@aws-sdk/client-sfn';
import { AwsError } from '../../aws-error.ts';
import { ConnectionLost, type FaultBench, noFaults } from '../../faults/index.ts';
import type { Iam } from '../../iam/index.ts';
import { type JsonObject, objectOf, stringOf } from '../../json.ts';
import { runtimeExited } from '../../lambda/errors.ts';
import type { InvokeResult, Lambda } from '../../lambda/index.ts';
import type { CallLog } from '../../wire/call-log.ts';
import type { WireResponse } from '../../wire/types.ts';
import { AGAIN, type Integration, type IntegrationCall, StatesError } from '../index.ts';
import { describeExecution, ENDS_RULE, refuseOthers, startExecutionSync } from './nested-executions.ts';

export interface IntegrationOptions {
  readonly lambda: Pick<Lambda, 'invoke'>;
  /** @default no faults */
  readonly bench?: Pick<FaultBench, 'withFaults' | 'strike'>;
  /** @default every call is allowed */
  readonly iam?: Pick<Iam, 'denied'>;
  /** Sends the input of an UpdateItem to DynamoDB. Throws if there is no answer. */
  readonly updateItem: (accessKey: string, input: JsonObject) => Promise<Pick<WireResponse, 'status' | 'body'>>;
  /** The AWS endpoint of the embedded cloud. */
  readonly endpoint: string;
  readonly region: string;
  readonly calls: CallLog;
  readonly now: () => number;
  /** The access key of a role: its logical id. */
  readonly accessKeyOfRole: (roleArn: string) => string;
  /** Resolves once an execution has closed. */
  readonly closed: (executionArn: string) => Promise<void>;
  /** Divides the pauses between polls of an execution. @default 1 */
  readonly timeScale?: number;
}

/** The Resources that tasks of a state machine may call. */
export const INTEGRATIONS = [
  'arn:aws:states:::lambda:invoke',
  'arn:aws:states:::lambda:invoke.waitForTaskToken',
  'arn:aws:states:::dynamodb:updateItem',
  'arn:aws:states:::states:startExecution.sync',
  'arn:aws:states:::states:startExecution.sync:2',
  'arn:aws:states:::aws-sdk:sfn:describeExecution',
] as const;

export function createIntegrations(options: IntegrationOptions): Record<string, Integration> {
  const { closed, timeScale = 1 } = options;
  const clientOf = clientsOf(options);
  const invoke = waiting(async (call) => lambdaOutput(await invokeLambda(call, options)));
  const executions = { clientOf, closed, endEventDelivered: endEventDelivery(options), timeScale };
  return {
    'arn:aws:states:::lambda:invoke': invoke,
    'arn:aws:states:::lambda:invoke.waitForTaskToken': invoke,
    'arn:aws:states:::dynamodb:updateItem': updateItem(options),
    'arn:aws:states:::states:startExecution.sync': startExecutionSync(executions, false),
    'arn:aws:states:::states:startExecution.sync:2': startExecutionSync(executions, true),
    'arn:aws:states:::aws-sdk:sfn:describeExecution': describeExecution(executions),
  } satisfies Record<(typeof INTEGRATIONS)[number], Integration>;
}

/** Delivers the event that ends the wait of a `.sync` task: a fault can lose it. */
function endEventDelivery({ bench = noFaults }: IntegrationOptions): (executionArn: string) => Promise<boolean> {
  const call = { service: 'events', operation: 'Deliver', caller: ENDS_RULE, worker: undefined } as const;
  return async (executionArn) => {
    try {
      await bench.strike({ ...call, input: () => ({ executionArn }) }, 'before');
      return true;
    } catch {
      return false;
    }
  };
}

/** Marks an integration whose call begins when a worker gets it. If the process dies before that, no work is lost. */
const waiting = (integration: Integration): Integration => Object.assign(integration, { waits: true } as const);

/** The text that executions on AWS show. */
const UNKNOWN_CAUSE = 'The cause could not be determined because Lambda did not return an error type.';

/**
 * The output of the optimized integration, which parses the Payload and fails with the error of the function. The result
 * has the HTTP metadata of the answer, about 1 KB, which counts towards the 256 KiB (API reference of Invoke, and results
 * recorded on AWS).
 */
function lambdaOutput({ statusCode, payload, functionError, executedVersion }: InvokeResult): unknown {
  const output: unknown = payload === '' ? null : JSON.parse(payload);
  if (functionError !== undefined) {
    const name = stringOf(objectOf(output).errorType);
    if (name !== undefined) throw new StatesError(name, payload);
    throw new StatesError('Lambda.Unknown', `${UNKNOWN_CAUSE} Returned payload: ${payload}`);
  }
  const requestId = randomUUID();
  const headers = {
    'X-Amz-Executed-Version': executedVersion,
    'x-amzn-Remapped-Content-Length': '0',
    Connection: 'keep-alive',
    'x-amzn-RequestId': requestId,
    'Content-Length': String(Buffer.byteLength(payload)),
    Date: new Date().toUTCString(),
    'X-Amzn-Trace-Id': `Root=1-${requestId};Parent=${requestId.slice(0, 16)};Sampled=0;Lineage=1:${requestId.slice(0, 8)}:0`,
    'Content-Type': 'application/json',
  };
  const all = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
  return {
    ExecutedVersion: executedVersion,
    Payload: output,
    SdkHttpMetadata: { AllHttpHeaders: all, HttpHeaders: headers, HttpStatusCode: statusCode },
    SdkResponseMetadata: { RequestId: requestId },
    StatusCode: statusCode,
  };
}

const LAMBDA_ARGUMENTS = new Set(['FunctionName', 'Payload', 'InvocationType']);

async function invokeLambda(call: IntegrationCall, options: IntegrationOptions): Promise<InvokeResult> {
  const input = objectOf(call.arguments);
  refuseOthers(input, LAMBDA_ARGUMENTS, call.resource);
  const { FunctionName, Payload = {}, InvocationType } = input;
  const payload = JSON.stringify(Payload);
  if (call.lost && InvocationType !== 'Event') return workerDied();
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
    const event = InvocationType === 'Event';
    const to = { signal: call.signal, event, onWorker: call.begins };
    const result = await options.lambda.invoke(String(FunctionName), payload, to);
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

/** The name of an error in Lambda's model; an error outside of it gets the name of the service. */
const lambdaErrorName = (type: string): string =>
  type === 'AccessDeniedException' ? 'Lambda.AWSLambdaException' : `Lambda.${type}`;

/** The result of a worker that died with the process. The Retry of the machine decides whether the function runs again. */
function workerDied(): InvokeResult {
  const error = runtimeExited(randomUUID(), 'signal: killed');
  return { statusCode: 200, payload: JSON.stringify(error), functionError: 'Unhandled', executedVersion: '$LATEST' };
}

/** Creates a client for each role. Its calls are counted and authorized, like calls of functions. */
function clientsOf({ endpoint, region, accessKeyOfRole }: IntegrationOptions): (roleArn: string) => SFNClient {
  const clients = new Map<string, SFNClient>();
  return (roleArn) => {
    const credentials = { accessKeyId: accessKeyOfRole(roleArn), secretAccessKey: 'local' };
    // One attempt: the Retry of a state repeats failures, where the history shows it.
    const client = clients.get(roleArn) ?? new SFNClient({ endpoint, region, credentials, maxAttempts: 1 });
    clients.set(roleArn, client);
    return client;
  };
}

function updateItem({ updateItem: send, accessKeyOfRole }: IntegrationOptions): Integration {
  return async (call) => {
    // Evaluates the Arguments again: a condition on the time must hold at the write, which may happen much later.
    if (call.lost) return AGAIN;
    const sent = send(accessKeyOfRole(call.roleArn), objectOf(call.arguments));
    const { status, body } = await sent.catch((error: unknown) => {
      throw new StatesError('DynamoDB.SdkClientException', error instanceof Error ? error.message : String(error));
    });
    const output = objectOf(JSON.parse(String(body)));
    if (status === 200) return output;
    const name = stringOf(output.__type)?.split('#').at(-1) ?? '';
    throw new StatesError(dynamoErrorName(name), stringOf(output.message ?? output.Message) ?? '');
  };
}

// The exceptions of UpdateItem that the service model names; all others get the name of the service.
const MODELLED = new Set([
  'ConditionalCheckFailedException',
  'InternalServerError',
  'ItemCollectionSizeLimitExceededException',
  'ProvisionedThroughputExceededException',
  'ReplicatedWriteConflictException',
  'RequestLimitExceeded',
  'ResourceNotFoundException',
  'ThrottlingException',
  'TransactionConflictException',
]);

function dynamoErrorName(name: string): string {
  return `DynamoDB.${MODELLED.has(name) ? name : 'AmazonDynamoDBException'}`;
}
