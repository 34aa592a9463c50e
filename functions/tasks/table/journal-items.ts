import { ENTRY, KEY, RUN_QUERIES } from '../attributes.ts';
import type { DynamoDb, QueryInput } from '../aws/dynamodb.ts';
import type { TaskKey } from '../record.ts';
import { isNumber, isString } from '../shape.ts';
import { isCurrent, type RunKey, runItemKey, writeRunItem } from './run-items.ts';

/** What an entry is about: a step of the tool, a wait, or a pass: the name of a pass is its place, its value the wait that ended there. */
export type EntryKind = 'step' | 'wait' | 'pass';

export interface EntryId {
  readonly kind: EntryKind;
  readonly name: string;
}

/** What the runs of a task have done once. It has a value, or the place of one, or a misfit, or has only begun. */
export interface Entry extends EntryId {
  /** JSON text. */
  readonly value?: string;
  /** Of a value in S3: how long its text is, and its hash in hex. */
  readonly bytes?: number;
  readonly sha256?: string;
  /** Why its value could not be kept, in words that follow its name. */
  readonly misfit?: string;
  /** Which run has begun its work, until there is a value. */
  readonly begun?: string;
  /** JSON text of the variables that were set before it, their round, and their place among the others of the round. */
  readonly variables?: string;
  readonly round?: number;
  readonly order?: number;
}

export interface StoredJournal {
  readonly entries: readonly Entry[];
  /** The amount of the last report of any run, if it had one. */
  readonly reported?: { readonly progress: number; readonly total?: number };
}

export interface JournalStore {
  /** All that the runs of a task have stored. Strongly consistent; one request for each MB. */
  readJournal(run: RunKey): Promise<StoredJournal>;
  readEntry(run: RunKey, id: EntryId): Promise<Entry | undefined>;
  /**
   * Stores an entry if it is the first. False: another one is there, and counts.
   *
   * @param before also replaces an entry that this run has begun. @default none
   */
  writeEntry(run: RunKey, entry: Entry, before?: string): Promise<boolean>;
}

export function journalStore(db: DynamoDb, table: string): JournalStore {
  async function query(run: RunKey, condition: string, end: string): Promise<Readonly<Record<string, unknown>>[]> {
    const { owner, taskId } = runItemKey(run, end);
    const first: QueryInput = {
      TableName: table,
      KeyConditionExpression: `#${KEY.partition} = :owner AND ${condition}`,
      // The policy of a tool needs both.
      Select: 'SPECIFIC_ATTRIBUTES',
      ProjectionExpression: RUN_QUERIES.map((name) => `#${name}`).join(', '),
      ExpressionAttributeNames: Object.fromEntries(RUN_QUERIES.map((name) => [`#${name}`, name])),
      ExpressionAttributeValues: { ':owner': owner, ':taskId': taskId },
      ConsistentRead: true,
    };
    const items: Record<string, unknown>[] = [];
    let after: Record<string, unknown> | undefined;
    do {
      const page = await db.query({ ...first, ...(after && { ExclusiveStartKey: after }) });
      items.push(...(page.Items ?? []));
      after = page.LastEvaluatedKey;
    } while (after !== undefined);
    return items.filter(isCurrent);
  }

  return {
    async readJournal(run) {
      const items = await query(run, `begins_with(#${KEY.sort}, :taskId)`, '');
      const { progress, progressTotal } = items.find((item) => item[KEY.sort] === run.taskId) ?? {};
      return {
        entries: items.flatMap((item) => entryOf(run, item) ?? []),
        ...(isNumber(progress) && {
          reported: { progress: Number(progress), ...(isNumber(progressTotal) && { total: Number(progressTotal) }) },
        }),
      };
    },
    async readEntry(run, id) {
      const [item] = await query(run, `#${KEY.sort} = :taskId`, endOf(id));
      return item && entryOf(run, item);
    },
    writeEntry: (run, { kind, name, ...entry }, before) =>
      writeRunItem(db, table, {
        run,
        Key: runItemKey(run, endOf({ kind, name })),
        item: { ...NOTHING, ...entry },
        ...(before !== undefined && { or: ['#begun = :before'], values: { ':before': before } }),
      }),
  };
}

/** What the sort key of an entry has behind the id of its task. */
const endOf = ({ kind, name }: EntryId): string => `#${kind}#${name}`;

const NOTHING = Object.fromEntries(ENTRY.map((name) => [name, undefined]));
const TEXTS = ['value', 'sha256', 'misfit', 'begun', 'variables'] as const;
const NUMBERS = ['bytes', 'round', 'order'] as const;

/** The entry in an item. A tool writes it, so what has the wrong type is left out. */
function entryOf({ taskId }: TaskKey, item: Readonly<Record<string, unknown>>): Entry | undefined {
  const key = String(item[KEY.sort]);
  const [, kind, name] = /^#(step|wait|pass)#(.+)$/s.exec(key.slice(taskId.length)) ?? [];
  if (!key.startsWith(taskId) || kind === undefined || name === undefined) return undefined;
  const fields = [
    ...TEXTS.filter((field) => isString(item[field])).map((field) => [field, item[field]]),
    ...NUMBERS.filter((field) => isNumber(item[field])).map((field) => [field, item[field]]),
  ];
  return { ...Object.fromEntries(fields), kind: kind as EntryKind, name };
}
