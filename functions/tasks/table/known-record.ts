import { ENGINE_NAMES } from '../engines.ts';
import { RecordUnknown } from '../errors.ts';
import { RECORD_VERSION, STATUSES, type TaskRecord } from '../record.ts';
import { type Check, has, isBoolean, isInteger, isNumber, isString, listOf, objectOf, oneOf } from '../shape.ts';

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
 * Whether this code understands an item of the tasks table. After a rollback there may be records of a newer release.
 * A write without a condition may have left a partial one.
 */
export const isKnown = (item: unknown): item is TaskRecord => isRecord(item);

/** Throws RecordUnknown. */
export function known(item: Readonly<Record<string, unknown>>): TaskRecord {
  if (isKnown(item)) return item;
  throw new RecordUnknown(String(item.taskId));
}
