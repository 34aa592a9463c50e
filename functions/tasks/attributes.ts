/**
 * The names of all attributes and items of the tasks table, by what needs them. Policies, projections and the JSONata of the
 * workflow are made from these lists.
 */

/** The attributes that are the key of the table. */
const PARTITION = 'owner';
const SORT = 'taskId';
export const KEY = { partition: PARTITION, sort: SORT } as const;
/** The key of an item. Takes a whole record, too: DynamoDB refuses a key with more than its two parts. */
export const tableKey = <T>({ owner, taskId }: { readonly owner: T; readonly taskId: T }) => ({
  [KEY.partition]: owner,
  [KEY.sort]: taskId,
});

type Item = Readonly<Record<string, unknown>>;

/** The key of the task in an item of the table, or of an index. */
export const keyIn = (item: Item) => ({ owner: String(item[KEY.partition]), taskId: String(item[KEY.sort]) });

/** The fields of a record in an item of the table: no more than the names of the key differ. */
export const fieldsIn = ({ [KEY.partition]: owner, [KEY.sort]: taskId, ...item }: Item): Item => ({
  ...item,
  owner,
  taskId,
});
/** The item of the table that holds these fields. */
export const itemOf = <T extends object>({
  owner,
  taskId,
  ...fields
}: T & { readonly owner: string; readonly taskId: string }) => ({
  ...tableKey({ owner, taskId }),
  ...fields,
});

/** The sparse index of tasks that the sweep has to check, by the time of that (`due-index.ts`), and the index of operators. */
export const INDEXES = {
  due: { name: 'due', partition: 'due', sort: 'dueAt' },
  status: { name: 'status', partition: 'statusShard', sort: 'createdAt', others: ['status', 'tool', 'deadlineAt'] },
} as const;
/** What a list of operators reads in their index. */
export const INDEXED = [PARTITION, SORT, 'status', 'tool', 'createdAt', 'deadlineAt'] as const;

/** The sort keys of items other than tasks. They sort before all task ids. */
export const SORT_KEYS = {
  /** With the number of a shard behind it. */
  slots: '#slots#',
  full: '#slots-full',
  session: '#session',
  /** These four are in the partition of an owner's counts. */
  streams: '#streams',
  refused: '#refused',
  lists: '#lists',
  states: '#states',
  /** Names the task that a link's place belongs to. Has its own partition. */
  task: '#task',
  /** These three are in the partition of an owner's subscriptions. With the id of the subscription behind it. */
  subscription: '#sub#',
  /** With the id of the subscription behind it: where that goes. */
  url: '#url#',
  seen: '#seen',
  /** With the position behind it. In the partition of an owner's log. */
  event: '#event#',
  eventHead: '#head',
  /** These two are in the partition of an owner's new events. With the place of the event in the stream behind it. */
  newEvent: '#new#',
  /** Up to which position each subscription has its entries. */
  fannedOut: '#fanned-out',
} as const;
/** Comes after all sort keys above, and before every id of a task. */
export const BEFORE_TASKS = '$';

/** The partitions of records, as policies name them: see `newTaskKey`. */
export const OWNERS = ['task#*', 'session#*', 'owner#*'] as const;

/**
 * The runs of a task write into this partition, not into the record's: IAM can tell the two apart by the
 * partition key, and the credentials of a tool may only write here.
 */
export const PROGRESS_PARTITION = 'progress#';
/** The partitions of the places of links and webhooks. A run writes them, too. */
export const SIGNAL_PARTITION = `${PROGRESS_PARTITION}signals#` as const;
/**
 * With the owner behind it. Apart, as a caller who uses up the reads of the partition of its tasks must still be counted: a request that
 * cannot be counted waits all the same.
 */
export const COUNTS_PARTITION = 'counts#';
/** With owner and id of a task behind it: which of its links are published. The steps of other tasks must not throttle this partition. */
export const PUBLISHED_PARTITION = 'published#';
/** The subscriptions of an owner (`table/events/items.ts`). */
export const EVENTS_PARTITION = 'events#';
/** The log of an owner's events, apart: deliveries write to each subscription, and may use up all units of their partition. */
export const LOG_PARTITION = `${EVENTS_PARTITION}log#` as const;
/** Its events that are not in the log yet, apart: nothing that an owner does may delay the stream of all owners, which writes them. */
export const NEW_PARTITION = `${EVENTS_PARTITION}new#` as const;
/** Those that DynamoDB refused there: another key is mostly in another one of its own partitions, which other owners do not use up. */
export const SECOND_NEW_PARTITION = `${NEW_PARTITION}second#` as const;
/** What deciders of deliveries read of a subscription: no secret. */
export const MATCHED = [
  'endpoint',
  'createdAt',
  'name',
  'arguments',
  'scopes',
  'refreshBefore',
  'started',
  'startEvent',
  'matchedFrom',
] as const;
/** With the owner behind it: the partition of the files of all tasks of an owner, which a run writes, too. */
export const FILES_PARTITION = `${PROGRESS_PARTITION}files#` as const;
/** What operators see of a subscription: not where it goes, and no secret. */
export const SUBSCRIPTION_SHOWN = [
  'name',
  'arguments',
  'scopes',
  'createdAt',
  'refreshBefore',
  'started',
  'deliveredTo',
  'failedSince',
  'lastError',
  'lastDeliveryAt',
] as const;
/** What the end of a subscription by an operator names: nothing that is not shown (see `ENDED`). */
export const SUBSCRIPTION_ENDED = [PARTITION, SORT, 'createdAt'] as const;
/** What an entry of a task's journal has besides its key and `expiresAt` (docs/architecture/tasks.md, "The journal"). */
export const ENTRY = ['value', 'bytes', 'sha256', 'misfit', 'begun', 'variables', 'round', 'order'] as const;

/**
 * The key of the item that the sweep writes each minute, so that the stream always has a new record: where `TaskEvents` gets
 * none, it does not read the stream.
 */
export const PROBE = { owner: '#probe', taskId: '#probe' } as const;

/** What a record holds of the questions of its task, and of what answers them. */
const INPUT = ['asked', 'arguments', 'inputResponses', 'inputRef'] as const;
/** What goes when a task ends: see `untilStopped` for `due` and `dueAt`. */
export const RUNNING = ['due', 'dueAt', ...INPUT, 'waits', 'signalled', 'early', 'refused', 'progressToken'] as const;
/** What a new question of the task leaves out of its record. */
export const BEFORE_QUESTION = ['refused'] as const;
/** What a new round after waits leaves out. */
export const BEFORE_ROUND = ['waits', 'signalled', 'early', 'refused'] as const;

/** What readers need of a record to say whether its task is open: `isKnown` and `asOf`. */
export const SEEN = [
  PARTITION,
  'version',
  'tool',
  'expiresAt',
  SORT,
  'status',
  'round',
  'createdAt',
  'updatedAt',
  'ttl',
  'deadlineAt',
  'asked',
  'accepts',
  'arguments',
  'inputResponses',
  'inputRef',
  'waits',
  'events',
  'due',
] as const;

/** What the role of a tool may get of an item: whether its task is still wanted. */
export const RUN_READS = [PARTITION, SORT, 'status', 'round'] as const;
/** What it may query beside the records: the journal, and how far the last run was. */
export const RUN_QUERIES = [PARTITION, SORT, ...ENTRY, 'progress', 'progressTotal', 'expiresAt'] as const;
/** What it may write there: nothing that puts an item into an index. */
export const RUN_WRITES = [
  PARTITION,
  SORT,
  ...ENTRY,
  'updatedAt',
  'statusMessage',
  'progress',
  'progressTotal',
  'expiresAt',
] as const;

/** What the write of a signal names (`receive` in `transitions/waits.ts`). */
export const RECEIVED = [
  PARTITION,
  SORT,
  'status',
  'round',
  'inputResponses',
  'inputRef',
  'asked',
  'arguments',
  'signalled',
  'early',
  'dueAt',
  'updatedAt',
  'events',
] as const;

/**
 * The attributes of a record that an operator may read without the right to payloads. None holds what a client or a tool
 * wrote, but for the names of waits: no argument, question, answer, result, message or token. The policy of operators names the same ones.
 */
export const SHOWN = [
  PARTITION,
  SORT,
  'version',
  'status',
  'round',
  'tool',
  'createdAt',
  'updatedAt',
  'ttl',
  'deadlineAt',
  'engine',
  'legacy',
  'scopes',
  'outputSchemaId',
  'accepts',
  'inputRef',
  'waits',
  'signalled',
  'early',
  'reportsFrom',
  'isError',
  'failure',
  'error',
  'due',
  'dueAt',
  'seenRound',
  'expiresAt',
  'progress',
  'progressTotal',
  'events',
  'rerunOf',
  'traceparent',
] as const;

/** The rest of a record: only with the right to payloads. */
export const PAYLOAD = [
  'asked',
  'arguments',
  'inputResponses',
  'result',
  'statusMessage',
  'kept',
  'digest',
  'hookKey',
  'caller',
] as const;

/**
 * What `cancel` and `fail` of an operator name. No payload is among them: DynamoDB lets an update copy one attribute that it
 * names into another, so who may name a payload could copy it into what the read policy shows.
 */
export const ENDED = [
  PARTITION,
  SORT,
  'status',
  'statusShard',
  'round',
  'updatedAt',
  // Of a record, not of a report: text of the server.
  'statusMessage',
  'failure',
  'error',
  'events',
  'due',
  'dueAt',
  'waits',
  'signalled',
  'early',
] as const;

/** What `answer` names. It needs the right to payloads. */
export const ANSWERED = [
  PARTITION,
  SORT,
  'version',
  'status',
  'statusShard',
  'round',
  'updatedAt',
  'dueAt',
  'seenRound',
  'engine',
  'events',
  'statusMessage',
  'refused',
  'inputRef',
  'asked',
  'arguments',
  'inputResponses',
  'waits',
  'signalled',
  'early',
  'reportsFrom',
] as const;
