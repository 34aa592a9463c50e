import { fieldsIn, INDEXES, keyIn } from '../attributes.ts';
import { ENGINE_NAMES } from '../engines.ts';
import { RecordUnknown } from '../errors.ts';
import { RECORD_VERSION, STATUSES, type TaskRecord } from '../record.ts';
import { type Check, has, isBoolean, isInteger, isNumber, isString, listOf, objectOf, oneOf } from '../shape.ts';

type Item = Readonly<Record<string, unknown>>;

const isToken: Check = (value) => isString(value) || isNumber(value);

const isEvent = has(
  { at: isNumber, what: isString },
  {
    round: isInteger,
    by: isString,
    startedAt: isNumber,
    retries: isInteger,
    who: isString,
    reason: isString,
    mark: isString,
  },
);

const isRecord = has(
  {
    owner: isString,
    taskId: isString,
    version: oneOf(RECORD_VERSION),
    status: oneOf(...STATUSES),
    round: isInteger,
    tool: isString,
    createdAt: isNumber,
    updatedAt: isNumber,
    ttl: isNumber,
    deadlineAt: isNumber,
    expiresAt: isNumber,
    events: listOf(isEvent),
  },
  {
    statusMessage: isString,
    progressToken: isToken,
    engine: oneOf(...ENGINE_NAMES),
    legacy: isBoolean,
    isError: isBoolean,
    refused: objectOf(isNumber),
    scopes: listOf(isString),
    outputSchemaId: isString,
    digest: isString,
    call: isString,
    unheard: isBoolean,
    traceparent: isString,
    accepts: listOf(isString),
    asked: isString,
    waits: isString,
    signalled: listOf(isString),
    early: isNumber,
    hookKey: isString,
    caller: isString,
    reportsFrom: isInteger,
    arguments: isString,
    inputResponses: objectOf(isString),
    inputRef: isString,
    result: isString,
    failure: isString,
    error: isString,
    due: isString,
    dueAt: isNumber,
    seenRound: isInteger,
    rerunOf: isString,
    kept: isString,
  },
);

/**
 * Whether this code understands the fields of a record. After a rollback there may be records of a newer release. A write without
 * a condition may have left a partial one.
 */
export const isKnown = (fields: unknown): fields is TaskRecord => isRecord(fields);

/** The record in an item of the tasks table. Undefined: not known. The shard is a matter of the table: no reader of records gets it. */
export function recordIn(item: Item): TaskRecord | undefined {
  const { [INDEXES.status.partition]: _shard, ...fields } = fieldsIn(item);
  const record: unknown = fields;
  return isKnown(record) ? record : undefined;
}

/** As recordIn. Throws RecordUnknown. */
export function known(item: Item): TaskRecord {
  const record = recordIn(item);
  if (record === undefined) throw new RecordUnknown(keyIn(item).taskId);
  return record;
}
