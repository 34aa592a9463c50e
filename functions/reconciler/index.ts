import type { Context, EventBridgeEvent } from 'aws-lambda';
import { dynamoDb } from '../tasks/aws/dynamodb.ts';
import { list, variable } from '../tasks/aws/env.ts';
import { stepFunctions } from '../tasks/aws/step-functions.ts';
import { workflow } from '../tasks/aws/workflow.ts';
import type { Engine } from '../tasks/engines.ts';
import { errorFacts, logEvent, print } from '../tasks/log.ts';
import type { TaskKey } from '../tasks/record.ts';
import { resultStore } from '../tasks/results/result-store.ts';
import { inputStore } from '../tasks/s3/input-store.ts';
import { dueIndex } from '../tasks/table/due-index.ts';
import { oldestOpen } from '../tasks/table/status-index.ts';
import { taskStore } from '../tasks/table/store.ts';
import { probeStream } from '../tasks/table/stream-probe.ts';
import { isRepair } from './decide.ts';
import { describer } from './describe.ts';
import { type StatusChange, settleEnded } from './ended-run.ts';
import { repairLines, reportLines } from './metrics.ts';
import { reconcile } from './reconcile.ts';
import { type SweepContext, sweep } from './sweep.ts';

/** The end of a run of this server, the tick of its schedule, or a task whose wait is over. */
export type ReconcilerEvent =
  | { readonly resume: TaskKey }
  | EventBridgeEvent<'Step Functions Execution Status Change', StatusChange>
  | EventBridgeEvent<'Scheduled Event', object>;

/** No client waits, and the next sweep finds what is left: so a call that hangs is given up soon. */
const TIMEOUTS = { requestTimeout: 2_000, attempts: 2 };
/** The share of the time that a sweep may use. The rest, ten seconds, is for its last task and the metrics. */
const SHARE = 5 / 6;
const PAGE = 25;
/** In ms. A tick that arrives later than this is skipped: a newer one has arrived. */
const STALE = 90_000;

/** What the reconciler has to know of a tool that runs as a task. */
export interface KnownTool {
  readonly name: string;
  readonly engine: Engine;
  /** If it is a state machine: its index in the variable TOOL_MACHINES. */
  readonly stateMachine?: number | undefined;
  /** It may run again after a run that perhaps happened. */
  readonly repeatable: boolean;
}

/** The reconciler as a Lambda function. `lambda.ts` calls it once. */
export function createHandler(tools: readonly KnownTool[]) {
  const context = createContext(tools, process.env);
  const server = variable(process.env, 'SERVER_NAME');
  return (event: ReconcilerEvent, lambda: Pick<Context, 'getRemainingTimeInMillis'>) =>
    handle(event, lambda.getRemainingTimeInMillis(), context, server).catch(failed);
}

/** Lambda logs the message, and puts it into the dead letter. One of AWS may quote the input of a run. */
function failed(error: unknown): never {
  logEvent('unexpected_error', { where: 'reconciler', ...errorFacts(error) });
  throw new Error('The event could not be settled: see unexpected_error in the log');
}

/** The same event twice, or two sweeps at once, do no harm: see `decide`. `remaining` is in ms. */
export async function handle(event: ReconcilerEvent, remaining: number, context: SweepContext, server: string) {
  if ('resume' in event) return void (await reconcile(event.resume, true, context));
  if (event['detail-type'] === 'Scheduled Event') {
    // It was delayed, as Lambda had no worker for it. The next tick does the same, and one at a time is enough.
    if (context.now() - Date.parse(event.time) > STALE) return;
    await context.probe().catch((error: unknown) => logEvent('probe_failed', errorFacts(error)));
    const report = await sweep(context.now() + remaining * SHARE, context);
    const oldest = await context.oldestOpen().catch((error: unknown) => {
      logEvent('oldest_open_unknown', errorFacts(error));
      return undefined;
    });
    print(reportLines(report, oldest, server, context.now()));
    const { errors } = report;
    if (Object.keys(errors).length > 0) logEvent('sweep_errors', { errors });
    return;
  }
  const done = await settleEnded(event.detail, context);
  if (isRepair(done)) print(repairLines({ [done]: 1 }, server, context.now()));
}

function createContext(tools: readonly KnownTool[], env: NodeJS.ProcessEnv): SweepContext {
  const db = dynamoDb(TIMEOUTS);
  const objects = resultStore({ bucket: variable(env, 'RESULTS_BUCKET'), timeout: 4_000 });
  const states = stepFunctions(TIMEOUTS);
  const machineArnPrefix = variable(env, 'MACHINE_ARN_PREFIX');
  const table = variable(env, 'TASKS_TABLE');
  const names = list(env, 'TOOL_MACHINES');
  const arnOf = (index: number) => machineArnPrefix.replace(/:stateMachine:.*$/, `:stateMachine:${names[index]}`);
  const engines = new Map(tools.map(({ name, engine }) => [name, engine]));
  return {
    toolEngine: (tool) => engines.get(tool),
    repeatable: new Set(tools.flatMap(({ name, repeatable }) => (repeatable ? name : []))),
    store: taskStore(db, table, 'reconciler'),
    index: dueIndex(db, table, PAGE),
    oldestOpen: () => oldestOpen(db, table),
    probe: () => probeStream(db, table, Date.now()),
    workflow: workflow(states, machineArnPrefix),
    inputs: inputStore(objects),
    results: objects,
    describe: describer(states),
    stateMachines: new Map(
      tools.flatMap(({ name, stateMachine: index }) => (index === undefined ? [] : [[name, arnOf(index)] as const])),
    ),
    machineArnPrefix,
    log: logEvent,
    now: Date.now,
    checksPerSecond: Number(variable(env, 'CHECKS_PER_SECOND')),
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  };
}
