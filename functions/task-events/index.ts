import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { type Audit, printAudit } from '../tasks/audit.ts';
import { dynamoDb } from '../tasks/aws/dynamodb.ts';
import { variable } from '../tasks/aws/env.ts';
import type { PutEvents } from '../tasks/aws/eventbridge.ts';
import { errorFacts, logEvent, print } from '../tasks/log.ts';
import { resultStore } from '../tasks/results/result-store.ts';
import { inputStore } from '../tasks/s3/input-store.ts';
import { taskStore } from '../tasks/table/store.ts';
import { changesOf, type TaskChange } from './changes.ts';
import { measureLines } from './measures.ts';
import { snapshotOf } from './snapshot.ts';
import { statusChangeEntry } from './status-change.ts';
import { type Outcome, type OutcomeContext, storeOutcome } from './store-outcome.ts';

/** What the function needs from outside. Tests replace single members. */
export interface TaskEventsContext {
  /** The name of the server: a dimension of its metrics. */
  readonly server: string;
  /** Puts up to ten entries on the bus. Returns for each whether it was accepted. */
  readonly putEvents: PutEvents;
  readonly audit: Audit;
  /** In ms since the epoch. */
  readonly now: () => number;
  /** Prints lines of metrics. */
  readonly print: (lines: readonly string[]) => void;
}

/**
 * A stream keeps its records for 24 hours. After this, in ms, a change is written to the log without its event: audit lines
 * and metrics must not be lost with EventBridge.
 */
const PATIENCE = 23 * 3_600_000;
/** PutEvents takes this many entries (docs of EventBridge, "PutEvents"). */
const ENTRIES = 10;

/**
 * Tells what the stream of the tasks table says was committed, in its order: status changes on EventBridge, then the
 * audit lines and the metrics. At the first record whose event is not taken, Lambda is asked to deliver it and those behind
 * it again: a change may be told twice, and is not left out. Before the stream drops a record, it is told without its event.
 */
export async function tell(
  { Records }: DynamoDBStreamEvent,
  context: TaskEventsContext,
): Promise<DynamoDBBatchResponse> {
  const told = Records.map((record) => ({ record, changes: changesIn(record) }));
  const entries = told.flatMap(({ changes }, index) =>
    changes.flatMap((change) => {
      const entry = statusChangeEntry(change, context.server);
      return entry === undefined ? [] : [{ entry, index }];
    }),
  );
  const refused = await firstFailure(entries, context);
  const failed = refused === undefined ? undefined : firstYoung(Records, refused, context);
  for (const { changes } of told.slice(0, failed)) {
    for (const change of changes) {
      context.audit(change.action, change.facts);
      context.print(measureLines(change, context.server));
    }
  }
  const first = failed === undefined ? undefined : Records[failed]?.dynamodb?.SequenceNumber;
  return { batchItemFailures: first === undefined ? [] : [{ itemIdentifier: first }] };
}

/** The index of the first record of which an entry was not accepted. */
async function firstFailure(
  entries: readonly { readonly entry: object; readonly index: number }[],
  { putEvents }: TaskEventsContext,
): Promise<number | undefined> {
  for (let from = 0; from < entries.length; from += ENTRIES) {
    const some = entries.slice(from, from + ENTRIES);
    const accepted = await putEvents(some.map(({ entry }) => entry)).catch((error: unknown) => {
      logEvent('events_failed', errorFacts(error));
      return [];
    });
    const refused = some.find((_one, position) => accepted[position] !== true);
    if (refused !== undefined) return refused.index;
  }
  return undefined;
}

/** The index of the first record from `refused` on that the stream still keeps for a while. Older ones lose their event. */
function firstYoung(
  records: readonly DynamoDBRecord[],
  refused: number,
  { now }: TaskEventsContext,
): number | undefined {
  const oldest = now() - PATIENCE;
  const young = records.findIndex(
    ({ dynamodb }, index) => index >= refused && (dynamodb?.ApproximateCreationDateTime ?? 0) * 1_000 > oldest,
  );
  const first = young === -1 ? records.length : young;
  if (first > refused) logEvent('events_given_up', { records: first - refused });
  return young === -1 ? undefined : young;
}

/** A record that cannot be read is left out, and the log says where it is: it must not hold up those behind it. */
function changesIn({ dynamodb }: DynamoDBRecord): TaskChange[] {
  // What was deleted has expired.
  if (dynamodb?.NewImage === undefined) return [];
  const [before, task] = [dynamodb.OldImage && snapshotOf(dynamodb.OldImage), snapshotOf(dynamodb.NewImage)];
  // Another item of the table, or a record that a newer release wrote.
  if (task === undefined) return [];
  if (dynamodb.OldImage === undefined || before !== undefined) return changesOf(before, task);
  logEvent('change_unreadable', { sequenceNumber: dynamodb.SequenceNumber }, 'warn');
  return [];
}

function createContext(env: NodeJS.ProcessEnv): TaskEventsContext {
  const bus = variable(env, 'EVENT_BUS');
  let put: PutEvents | undefined;
  return {
    server: variable(env, 'SERVER_NAME'),
    async putEvents(entries) {
      put ??= (await import('#mcp-task-server/eventbridge')).eventPutter(bus, { requestTimeout: 3_000, attempts: 3 });
      return put(entries);
    },
    audit: printAudit,
    now: Date.now,
    print,
  };
}

function createOutcomeContext(env: NodeJS.ProcessEnv): OutcomeContext {
  const results = resultStore({ bucket: variable(env, 'RESULTS_BUCKET') });
  return {
    // Soon enough that no write comes after readers have seen the task fail: the workflow tries again.
    store: taskStore(dynamoDb({ requestTimeout: 2_000, attempts: 2 }), variable(env, 'TASKS_TABLE')),
    results,
    inputs: inputStore(results),
    now: Date.now,
  };
}

const context = createContext(process.env);
/** Made at the first outcome: most containers never get one. */
let outcomeContext: OutcomeContext | undefined;

/** What the stream of the table sends, or a tool workflow. */
export const handler = async (event: DynamoDBStreamEvent | { readonly outcome: Outcome }) => {
  if ('Records' in event) return tell(event, context);
  // Step Functions keeps the message of an error in its history: one of AWS may quote what was sent.
  outcomeContext ??= createOutcomeContext(process.env);
  await storeOutcome(event.outcome, outcomeContext).catch((error: unknown) => {
    logEvent('outcome_failed', errorFacts(error));
    throw Object.assign(new Error('The outcome was not written: see outcome_failed in the log'), {
      name: (error as Error).name,
    });
  });
  return null;
};
