import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { type Audit, printAudit } from '../tasks/audit.ts';
import { awsJson } from '../tasks/aws/aws-json.ts';
import { errorFacts, logEvent, print } from '../tasks/log.ts';
import { changesOf, type TaskChange } from './changes.ts';
import { measureLines } from './measures.ts';
import { snapshotOf } from './snapshot.ts';
import { statusChangeEntry } from './status-change.ts';

/** What the function needs from outside. Tests replace single members. */
export interface TaskEventsContext {
  /** The name of the server: a dimension of its metrics. */
  readonly server: string;
  /** Puts up to ten entries on the bus. Returns for each whether it was accepted. */
  readonly putEvents: (entries: readonly object[]) => Promise<readonly boolean[]>;
  readonly audit: Audit;
  /** Prints lines of metrics. */
  readonly print: (lines: readonly string[]) => void;
}

/** PutEvents takes this many entries (docs of EventBridge, "PutEvents"). */
const ENTRIES = 10;

/**
 * Tells what the stream of the tasks table says was committed, in its order: status changes on EventBridge, then the
 * audit lines and the metrics. At the first record that cannot be told, Lambda is asked to deliver it and those behind
 * it again: a change may be told twice, and is not left out.
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
  const failed = await firstFailure(entries, context);
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

function changesIn({ dynamodb }: DynamoDBRecord): TaskChange[] {
  // What was deleted has expired: it had ended, and its end was told.
  if (dynamodb?.NewImage === undefined) return [];
  const task = snapshotOf(dynamodb.NewImage);
  // Another item of the table, or a record that a newer release wrote.
  if (task === undefined) return [];
  return changesOf(dynamodb.OldImage && snapshotOf(dynamodb.OldImage), task);
}

function createContext(env: NodeJS.ProcessEnv): TaskEventsContext {
  const bus = env.EVENT_BUS ?? '';
  const events = awsJson({
    ...{ service: 'events', target: 'AWSEvents', version: '1.1', region: env.AWS_REGION ?? '' },
    ...{ endpoint: env.AWS_ENDPOINT_URL_EVENTBRIDGE ?? env.AWS_ENDPOINT_URL, requestTimeout: 3_000, attempts: 3 },
  });
  return {
    server: env.SERVER_NAME ?? '',
    async putEvents(entries) {
      const { Entries } = await events('PutEvents', {
        Entries: entries.map((entry) => ({ ...entry, EventBusName: bus })),
      });
      return (Entries as readonly { readonly EventId?: string }[]).map(({ EventId }) => EventId !== undefined);
    },
    audit: printAudit,
    print,
  };
}

const context = createContext(process.env);

export const handler = (event: DynamoDBStreamEvent) => tell(event, context);
