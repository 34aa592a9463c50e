import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { eventPublisher } from '../events/publish.ts';
import { type Audit, printAudit } from '../tasks/audit.ts';
import { dynamoDb } from '../tasks/aws/dynamodb.ts';
import { list, variable } from '../tasks/aws/env.ts';
import type { PutEvents } from '../tasks/aws/eventbridge.ts';
import type { InvokeLater } from '../tasks/aws/lambda.ts';
import type { SendFifo } from '../tasks/aws/sqs.ts';
import { limits } from '../tasks/limits.ts';
import { errorFacts, logEvent, print } from '../tasks/log.ts';
import type { TaskKey } from '../tasks/record.ts';
import { resultStore } from '../tasks/results/result-store.ts';
import { inputStore } from '../tasks/s3/input-store.ts';
import { eventItems } from '../tasks/table/events/items.ts';
import { linkPublisher } from '../tasks/table/signal-places.ts';
import { taskStore } from '../tasks/table/store.ts';
import { isOver } from '../tasks/waits/waits.ts';
import { changesOf, type TaskChange } from './changes.ts';
import { firstUnpublished, type PublishEvents, summaryIn } from './mcp-events.ts';
import { measureLines } from './metrics.ts';
import { snapshotOf } from './snapshot.ts';
import { statusChangeEntry } from './status-change.ts';
import { type Outcome, type OutcomeContext, storeOutcome } from './store-outcome.ts';
import { type Links, taskWaitsEntries } from './task-waits.ts';

/** The outside of the function. Tests replace single members. */
export interface TaskEventsContext {
  /** The name of the server: a dimension of its metrics. */
  readonly server: string;
  /** Whether each tool has its own metrics, beside the server's. */
  readonly metricsByTool: boolean;
  /** Puts up to ten entries on the bus. Returns for each whether it was accepted. */
  readonly putEvents: PutEvents;
  readonly audit: Audit;
  /** @default the server has no MCP Events */
  readonly publishEvents?: PublishEvents | undefined;
  /** The tools whose events have a summary. @default none */
  readonly summarized?: ReadonlySet<string>;
  /** @default the server publishes no links */
  readonly links?: Links | undefined;
  /** Asks the reconciler to begin the next round of a task whose wait is over. */
  readonly resume: (key: TaskKey) => Promise<void>;
  /** The time, in milliseconds since the epoch. */
  readonly now: () => number;
  readonly print: (lines: readonly string[]) => void;
}

/**
 * How long EventBridge may refuse an event, in milliseconds. A stream keeps its records for 24 hours. After this time a
 * change gets its audit line and its metrics without an event: they must not be lost, too.
 */
const EVENT_TIMEOUT = 23 * 3_600_000;
/** The most entries of PutEvents (docs of EventBridge, "PutEvents"). */
const ENTRIES = 10;

/**
 * Publishes the changes that the stream of the tasks table reports as committed, each task's in their order: status changes
 * on EventBridge, then the audit lines and the metrics. If EventBridge refuses an event, asks Lambda to deliver its record and
 * all later ones again: a change may be published twice, but is never left out. Before the stream drops a record, its
 * change is published without an event.
 */
export async function publish(
  { Records }: DynamoDBStreamEvent,
  context: TaskEventsContext,
): Promise<DynamoDBBatchResponse> {
  const read = Records.map((record) => ({ record, changes: changesIn(record) }));
  const entries = await entriesOf(
    read.map(({ changes }) => changes),
    context,
  );
  const refused = (await firstFailure(entries, context)) ?? Records.length;
  const { publishEvents, summarized = new Set() } = context;
  const published = read.slice(0, refused).map(({ record: { dynamodb }, changes }) => ({
    changes,
    sequence: dynamodb?.SequenceNumber ?? '',
    summary: dynamodb?.NewImage && summaryIn(dynamodb.NewImage, summarized),
  }));
  const unpublished = (publishEvents && (await firstUnpublished(published, publishEvents))) ?? refused;
  const failed = firstYoung(Records, unpublished, context);
  for (const { changes } of read.slice(0, failed)) {
    for (const change of changes) {
      context.audit(change.action, change.facts);
      context.print(measureLines(change, context));
    }
  }
  await resumeReady(
    read.slice(0, failed).flatMap(({ changes }) => changes.at(-1) ?? []),
    context,
  );
  const first = Records[failed]?.dynamodb?.SequenceNumber;
  return { batchItemFailures: first === undefined ? [] : [{ itemIdentifier: first }] };
}

/** Best effort: a poll, or the sweep within a minute, begins the round, too. */
async function resumeReady(changes: readonly TaskChange[], { resume, now }: TaskEventsContext): Promise<void> {
  const { rounds, took } = limits.waits.quick;
  const ready = changes.filter(({ before, task }) => {
    const isQuick = task.round > rounds && task.updatedAt - (before ?? task).updatedAt < took;
    // A signal comes from outside, however quickly.
    const isSignalled = before?.status === 'waiting' || before?.early !== undefined;
    return task.status === 'waiting' && isOver(task, now()) && (isSignalled || !isQuick);
  });
  const failed = (error: unknown) => logEvent('resume_failed', errorFacts(error));
  await Promise.all(ready.map(({ task: { owner, taskId } }) => resume({ owner, taskId }).catch(failed)));
}

interface Entry {
  readonly entry: object;
  /** Of its record. */
  readonly index: number;
  readonly taskId: string;
  /** The entries of its task that may be sent at the same time: a change of its status, or the links that this change waits for. */
  readonly step: readonly object[];
}

async function entriesOf(
  records: readonly (readonly TaskChange[])[],
  { server, links }: TaskEventsContext,
): Promise<readonly Entry[]> {
  const all: Entry[] = [];
  // One record after the other: each may wait for 20 links, and notes of 100 records at once are more than a function has connections for.
  for (const [index, changes] of records.entries()) {
    for (const change of changes) {
      const waits = links && (await taskWaitsEntries(change, server, links));
      const steps = [[statusChangeEntry(change, server) ?? []].flat(), waits ?? []];
      all.push(...steps.flatMap((step) => step.map((entry) => ({ entry, index, taskId: change.task.taskId, step }))));
    }
  }
  return all;
}

/**
 * The index of the first record of which an entry was not accepted. Entries of different tasks are sent at the same time, changes
 * of one task one after the other.
 */
async function firstFailure(entries: readonly Entry[], { putEvents }: TaskEventsContext): Promise<number | undefined> {
  const send = async (some: readonly Entry[]): Promise<readonly Entry[]> => {
    const accepted = await putEvents(some.map(({ entry }) => entry)).catch((error: unknown) => {
      logEvent('events_failed', errorFacts(error));
      return [];
    });
    return some.filter((_one, position) => accepted[position] !== true);
  };
  let rest = entries;
  while (rest.length > 0) {
    const steps = new Map(rest.toReversed().map(({ taskId, step }) => [taskId, step]));
    const first = rest.filter(({ taskId, step }) => steps.get(taskId) === step);
    rest = rest.filter((one) => !first.includes(one));
    const requests = Array.from({ length: Math.ceil(first.length / ENTRIES) }, (_, i) =>
      send(first.slice(i * ENTRIES, (i + 1) * ENTRIES)),
    );
    const refused = (await Promise.all(requests)).flat();
    if (refused.length > 0) return Math.min(...[...refused, ...rest].map(({ index }) => index));
  }
  return undefined;
}

/**
 * The index of the first record from `refused` on that may be delivered again, or the index after the last one. Older
 * records lose their event.
 */
function firstYoung(records: readonly DynamoDBRecord[], refused: number, { now }: TaskEventsContext): number {
  const oldest = now() - EVENT_TIMEOUT;
  const young = records.findIndex(
    ({ dynamodb }, index) => index >= refused && (dynamodb?.ApproximateCreationDateTime ?? 0) * 1_000 > oldest,
  );
  const first = young === -1 ? records.length : young;
  if (first > refused) logEvent('events_given_up', { records: first - refused });
  return first;
}

/** Reads the changes of a record. One that cannot be read is left out and logged: it must not delay later records. */
function changesIn({ dynamodb }: DynamoDBRecord): TaskChange[] {
  // A deleted item has expired.
  if (dynamodb?.NewImage === undefined) return [];
  const [before, task] = [dynamodb.OldImage && snapshotOf(dynamodb.OldImage), snapshotOf(dynamodb.NewImage)];
  // This is another item of the table, or a record that a newer release wrote.
  if (task === undefined) return [];
  if (dynamodb.OldImage === undefined || before !== undefined) return changesOf(before, task);
  logEvent('change_unreadable', { sequenceNumber: dynamodb.SequenceNumber }, 'warn');
  return [];
}

function createContext(env: NodeJS.ProcessEnv): TaskEventsContext {
  const bus = variable(env, 'EVENT_BUS');
  let put: PutEvents | undefined;
  let invoke: InvokeLater | undefined;
  return {
    server: variable(env, 'SERVER_NAME'),
    metricsByTool: variable(env, 'METRICS_BY_TOOL') === 'true',
    async putEvents(entries) {
      put ??= (await import('#mcp-task-server/eventbridge')).eventPutter(bus, { requestTimeout: 3_000, attempts: 3 });
      return put(entries);
    },
    async resume(key) {
      invoke ??= (await import('#mcp-task-server/lambda')).eventInvoker({ requestTimeout: 3_000, attempts: 3 });
      await invoke(variable(env, 'RECONCILER'), { resume: key });
    },
    publishEvents:
      env.NEW_EVENTS_QUEUE_URL === undefined ? undefined : createPublishEvents(env, env.NEW_EVENTS_QUEUE_URL),
    summarized: new Set(list(env, 'EVENT_SUMMARIES')),
    links: env.LINKS_URL === undefined ? undefined : createLinks(env, env.LINKS_URL),
    audit: printAudit,
    now: Date.now,
    print,
  };
}

function createLinks(env: NodeJS.ProcessEnv, url: string): Links {
  const db = dynamoDb({ requestTimeout: 2_000, attempts: 1 });
  return { url, publishes: linkPublisher(db, variable(env, 'TASKS_TABLE')) };
}

function createPublishEvents(env: NodeJS.ProcessEnv, queue: string): PublishEvents {
  // All owners wait for these calls, and `publish.ts` knows what to do instead.
  const items = eventItems(dynamoDb({ requestTimeout: 2_000, attempts: 1 }), variable(env, 'TASKS_TABLE'));
  let send: SendFifo | undefined;
  return eventPublisher({
    items,
    now: Date.now,
    async sendNews(messages) {
      send ??= (await import('#mcp-task-server/sqs')).fifoSender(queue, { requestTimeout: 3_000, attempts: 3 });
      return send(messages);
    },
  });
}

function createOutcomeContext(env: NodeJS.ProcessEnv): OutcomeContext {
  const results = resultStore({ bucket: variable(env, 'RESULTS_BUCKET') });
  return {
    // These bounds prevent a write after readers have seen the task fail: the workflow tries again.
    store: taskStore(dynamoDb({ requestTimeout: 2_000, attempts: 2 }), variable(env, 'TASKS_TABLE')),
    results,
    inputs: inputStore(results),
    now: Date.now,
  };
}

const context = createContext(process.env);
/** The context of outcomes. It is made at the first one: most containers never get one. */
let outcomeContext: OutcomeContext | undefined;

/** Handles records of the table's stream, and outcomes that a tool workflow sends. */
export const handler = async (event: DynamoDBStreamEvent | { readonly outcome: Outcome }) => {
  if ('Records' in event) return publish(event, context);
  // Step Functions keeps the message of an error in its history, and AWS's messages may quote the request.
  outcomeContext ??= createOutcomeContext(process.env);
  await storeOutcome(event.outcome, outcomeContext).catch((error: unknown) => {
    logEvent('outcome_failed', errorFacts(error));
    throw Object.assign(new Error('The outcome was not written: see outcome_failed in the log'), {
      name: (error as Error).name,
    });
  });
  return null;
};
