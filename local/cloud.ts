import { join } from 'node:path';
import { toHereOf, withUrl } from './api-gateway/deployed-urls.ts';
import { startApiGateway } from './api-gateway/index.ts';
import { readApi } from './api-gateway/routes.ts';
import { lockDataDir } from './disk/data-dir.ts';
import { startDynamoDb } from './dynamodb/index.ts';
import { createMappings } from './event-source/api.ts';
import { readEventSourceMappings, readQueueMappings, startEventSources } from './event-source/index.ts';
import { createEventBridge, readBuses, readRules, type Schedules } from './events/index.ts';
import { createFaults, runPoint } from './faults/index.ts';
import { awsEnvironment, localized, withoutForbiddenLogs } from './function-environment.ts';
import { checkDeployed } from './iam/deployed.ts';
import { createIam } from './iam/index.ts';
import { openFunctionUrls } from './lambda/function-urls.ts';
import { createLambda, type FunctionSpec, type Lambda, NOT_RUN_LOCALLY, type WorkerOptions } from './lambda/index.ts';
import { createOperations } from './operations.ts';
import { createS3 } from './s3/index.ts';
import { createSecretsManager } from './secrets-manager/index.ts';
import { readFifoQueues } from './sqs/fifo/resources.ts';
import type { QueueMessage } from './sqs/message.ts';
import { createQueues } from './sqs/queues.ts';
import { createStepFunctions, type StatusChange, type StepFunctions } from './step-functions/index.ts';
import { checkKnown } from './step-functions/integrations/check-app.ts';
import { expressFate } from './step-functions/integrations/express-fate.ts';
import { createIntegrations } from './step-functions/integrations/integrations.ts';
import { type AppOptions, readApp } from './template/app.ts';
import { changesBetween } from './template/changes.ts';
import { readConnections } from './template/connections.ts';
import { readFunctionUrls } from './template/functions.ts';
import { placeOf } from './template/resources.ts';
import { every } from './template/schedule.ts';
import type { TestingControls, TestingOptions } from './testing.ts';
import { createClock } from './time/clock.ts';
import { createCallLog } from './wire/call-log.ts';
import { callJson } from './wire/execute.ts';
import { jsonService, openWire } from './wire/server.ts';

export interface CloudOptions extends TestingOptions, AppOptions, WorkerOptions {
  /** The folder that `cdk synth` wrote. */
  readonly assembly: string;
  /** The port of the REST API. @default 0, a free one */
  readonly port?: number;
  /**
   * The folder that keeps tables, objects, secrets and executions, with mode 0700. One cloud uses it at a time. If it
   * cannot be written, an uncaught DiskError ends the process. @default in memory
   */
  readonly dataDir?: string;
  /** Gets each log line of the functions and of the cloud itself. @default dropped */
  readonly onLog?: (source: string, line: string, stream: 'stdout' | 'stderr', requestId?: string) => void;
  /** The clock of all parts but the functions, in milliseconds since the epoch. @default Date.now */
  readonly now?: () => number;
  /**
   * Divides the waits, retry delays and timeouts of state machines, the rates of schedules and of rotations, and the
   * pauses before retries of events and of asynchronous invocations. @default 1
   */
  readonly timeScale?: number;
  /** Whether schedules and rotations run on their own; `cloud.schedules.fire` runs schedules anyway. @default true */
  readonly schedules?: boolean;
  /** Milliseconds between two removals of expired items and objects. @default 5_000 */
  readonly ttlSweepMs?: number;
  /** Paths beside the REST API that a GET is redirected from, to URLs. @default none */
  readonly redirects?: ReadonlyMap<string, string>;
  /** Gets the facts of each EventBridge "Step Functions Execution Status Change". */
  readonly onStatusChange?: (change: StatusChange) => void;
}

export interface Cloud extends TestingControls {
  /** The URL of the REST API, as behind a custom domain with an empty base path. */
  readonly url: string;
  /** The endpoint of all AWS services, and the `AWS_ENDPOINT_URL` of the functions. */
  readonly endpoint: string;
  readonly region: string;
  /** Names of the stacks. */
  readonly stacks: readonly string[];
  /** Names of the tables. */
  readonly tables: readonly string[];
  /** Names of the buckets. */
  readonly buckets: readonly string[];
  /** Names of the secrets. */
  readonly secrets: readonly string[];
  /** Outputs of the stacks. */
  readonly outputs: Readonly<Record<string, string>>;
  readonly lambda: Lambda;
  readonly stepFunctions: StepFunctions;
  /** The rules that run by schedule. */
  readonly schedules: Schedules;
  /** The messages in each queue, by its name: those in flight, too. */
  readonly queues: ReadonlyMap<string, readonly QueueMessage[]>;
  /** How many resources are left alone, by service, such as `AWS::SNS`: see `CloudOptions.lenient`. */
  readonly leftAlone: ReadonlyMap<string, number>;
  /** Why a tool of the server cannot run here, by its name: its calls fail. Only with `CloudOptions.lenient`. */
  refusedTools(): ReadonlyMap<string, string>;
  /**
   * Deploys a newer assembly of the same app, if only the code and the variables of functions have changed. Runs under
   * way end on the old code. Returns what else differs; then nothing is deployed, and only a new cloud can run it.
   * `code` is that option of `CloudOptions`.
   */
  redeploy(
    assembly: string,
    code?: CloudOptions['code'],
  ): { readonly updated: readonly string[]; readonly refused: readonly string[] };
  /** Removes expired items and objects now. Returns how many. */
  sweepExpired(): Promise<number>;
  stop(): Promise<void>;
}

const RECORDED_CALLS = 100_000;
/** Time between two checks whether a secret is due for rotation. */
const ROTATION_CHECK_MS = 60_000;

/**
 * Runs a cloud assembly in this process: its functions, tables, buckets, state machines, secrets, rules and REST API.
 *
 * @example
 * const cloud = await startCloud({ assembly: 'cdk.out' });
 * await fetch(`${cloud.url}/mcp`, { method: 'POST', body: '{}' });
 * await cloud.stop();
 */
export async function startCloud(options: CloudOptions): Promise<Cloud> {
  // `stop` runs these in reverse order, as does a later part that fails to start.
  const undo: (() => unknown)[] = [];
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    return { ...(await start(options, (step) => undo.push(step))), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(options: CloudOptions, atStop: (undo: () => unknown) => void): Promise<Omit<Cloud, 'stop'>> {
  const { assembly, port = 0, dataDir, timeScale = 1, onStatusChange } = options;
  const { onLog = () => undefined, ttlSweepMs = 5_000, recordCalls = false, schedules: scheduled = true } = options;
  const { maxMemoryMb, maxWorkersPerFunction, sharedWorkers, concurrency } = options;
  const onError = (message: string) => onLog('cloud', message, 'stderr');

  const app = readApp(assembly, options, checkKnown);
  const { stacks, specs, leftAlone } = app;
  const fifo = readFifoQueues(stacks);
  const mappings = readEventSourceMappings(stacks, specs, fifo);
  const queueMappings = readQueueMappings(stacks, specs, fifo);
  const api = readApi(stacks);
  const { region, account } = placeOf(stacks);
  const buses = readBuses(stacks, { region, account });
  const rules = readRules(stacks, specs, buses);
  const iam = createIam(stacks, specs, { region, account });
  checkDeployed(stacks, iam, [...mappings, ...queueMappings]);
  const calls = createCallLog(recordCalls ? RECORDED_CALLS : 0);
  const clock = createClock(
    options,
    specs.functions.map(({ logicalId }) => logicalId),
  );
  const { now } = clock;
  let deployed = app;

  if (dataDir !== undefined) atStop(await lockDataDir(dataDir));
  const { tables, buckets } = specs;
  const stored = { dataDir, now, sweepMs: ttlSweepMs, onError };
  const dynamoDb = await startDynamoDb({ ...stored, tables, consumers: mappings, metered: recordCalls });
  atStop(dynamoDb.stop);
  const s3 = createS3({ ...stored, buckets, region });
  atStop(s3.stop);
  const wire = await openWire();
  atStop(wire.stop);
  const functionUrls = await openFunctionUrls(readFunctionUrls(stacks));
  atStop(functionUrls.stop);
  const environmentOf = (logicalId: string, variables: Readonly<Record<string, string>>) =>
    awsEnvironment(logicalId, localized(variables, functionUrls), wire.url, region);
  const functions = specs.functions.map((spec): FunctionSpec => {
    const shared = clock.sharedWith(spec.logicalId);
    const environment = environmentOf(spec.logicalId, spec.environment);
    return { ...spec, environment, ...(shared && { clock: shared }) };
  });
  const queues = createQueues({ standard: specs.queues, fifo }, { now, timeScale, dataDir, onMove: clock.onMove });
  const operations = createOperations({ stacks: () => deployed.stacks, queues, iam, account, now });
  const bench = createFaults((workerId) => lambda.killWorker(workerId), options.mortal);
  const lambda: Lambda = createLambda(functions, {
    onLog: withoutForbiddenLogs(stacks, iam, (source, line, ...rest) => {
      operations.keep(source, line);
      onLog(source, line, ...rest);
    }),
    now,
    onGivenUp: queues.send,
    onRun: runPoint(specs.functions, bench, onError),
    maxMemoryMb,
    maxWorkersPerFunction,
    sharedWorkers,
    concurrency,
    timeScale,
  });
  atStop(lambda.stop);
  const { streams } = dynamoDb;
  const polling = { lambda, queues, bench, now, timeScale, onError };
  const sources = startEventSources({ mappings, queueMappings, streams, ...polling });
  atStop(sources.stop);
  const answerMappings = createMappings({ stacks, specs, streams, iam, onCreated: sources.add });
  const listening = Promise.withResolvers<string>();
  const outputs = localized(Object.fromEntries(stacks.flatMap((stack) => Object.entries(stack.outputs))), functionUrls);
  // Workflows give functions the URL of the API, and events may have it.
  const toHere = toHereOf(api, outputs, listening.promise);
  const events = createEventBridge({ rules, buses, iam, scheduled, toHere, ...polling });
  atStop(events.stop);
  const accessKeyOfRole = (roleArn: string) => specs.roles.get(roleArn) ?? 'StepFunctions';
  const closed = (executionArn: string) => stepFunctions.closed(executionArn);
  const execution = { calls, bench, iam, now, onError };
  const eventBridge = jsonService('events', '1.1', events.operations);
  const called = { dynamodb: dynamoDb.service, events: eventBridge, ...operations.called };
  const integrations = createIntegrations({
    lambda: withUrl(lambda, toHere),
    bench,
    iam,
    send: (service, ...call) => callJson(called[service], ...call, execution),
    endpoint: wire.url,
    region,
    connections: readConnections(stacks),
    calls,
    now,
    accessKeyOfRole,
    closed,
    timeScale,
  });
  const stepFunctions: StepFunctions = createStepFunctions(
    specs.machines.map((one) => localized(one, functionUrls)),
    {
      integrations,
      now,
      timeScale,
      onNotice: onError,
      expressFate: expressFate(bench, accessKeyOfRole),
      ...(dataDir !== undefined && { journal: join(dataDir, 'step-functions.jsonl') }),
      onStatusChange(change) {
        if (change.error === NOT_RUN_LOCALLY) onError(`✗ cannot run here: ${change.cause}`);
        events.statusChanged(change);
        return onStatusChange?.(change);
      },
    },
  );
  atStop(stepFunctions.stop);
  const secretsManager = createSecretsManager(specs.secrets, { dataDir, lambda, iam, now, timeScale, onError });
  if (scheduled) atStop(every(ROTATION_CHECK_MS / timeScale, secretsManager.rotateDue));
  const services = {
    DynamoDB_20120810: dynamoDb.service,
    AWSEvents: eventBridge,
    AWSStepFunctions: jsonService('states', '1.0', stepFunctions.operations),
    secretsmanager: jsonService('secretsmanager', '1.1', secretsManager.operations),
    ...operations.json,
  };
  wire.serve({
    services,
    query: operations.query,
    lambda: async (request) => answerMappings(request) ?? lambda.handleHttp(request),
    s3: s3.service,
    ...execution,
  });
  const redirects = options.redirects ?? new Map();
  functionUrls.serve({ lambda, now, onError });
  const frontDoor = await startApiGateway({ api, lambda, bench, iam, port, redirects, now, onError });
  atStop(frontDoor.stop);
  listening.resolve(frontDoor.url);

  return {
    url: frontDoor.url,
    endpoint: wire.url,
    region,
    calls,
    lambda,
    stepFunctions,
    schedules: events.schedules,
    queues: queues.messages,
    topics: operations.topics,
    streams: { drained: streams.drained, records: streams.recorded },
    events: { accepted: events.accepted },
    faults: bench.faults,
    clock,
    permissions: { unused: iam.ledger.unused },
    stacks: stacks.map(({ stack }) => stack.name),
    tables: tables.map(({ name }) => name),
    buckets: buckets.map(({ name }) => name),
    secrets: specs.secrets.map(({ name }) => name),
    outputs,
    leftAlone,
    refusedTools: () => deployed.refusedTools,
    redeploy(newer, code) {
      const next = readApp(newer, { ...options, ...(code && { code }) }, checkKnown);
      const { functions: changed, others } = changesBetween(deployed, next);
      if (others.length > 0) return { updated: [], refused: others };
      for (const [name, { environment = {}, ...rest }] of changed) {
        const logicalId = next.specs.functions.find((one) => one.name === name)?.logicalId ?? '';
        operations.changed(logicalId);
        lambda.update(name, { ...rest, environment: environmentOf(logicalId, environment) });
      }
      deployed = next;
      return { updated: [...changed.keys()], refused: [] };
    },
    sweepExpired: async () => (await dynamoDb.sweep()) + s3.sweep(),
  };
}
