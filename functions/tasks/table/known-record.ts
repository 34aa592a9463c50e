import { RecordUnknown } from '../errors.ts';
import type { Status, TaskRecord } from '../record.ts';
import { type Check, has, isBoolean, isInteger, isNumber, isString, listOf, objectOf, oneOf } from '../shape.ts';

/** Written into each new record. A release that changes what a record means to its readers counts it up. */
export const RECORD_VERSION = 1;
/** Of a record with an `inputRef`: the releases before it would take it for one that asks nothing. */
export const MOVED_VERSION = 2;

const STATUSES: readonly Status[] = ['working', 'input_required', 'completed', 'failed', 'cancelled'];
const isToken: Check = (value) => isString(value) || isNumber(value);

const isRecord = has(
  {
    owner: isString,
    taskId: isString,
    status: oneOf(...STATUSES),
    round: isInteger,
    tool: isString,
    createdAt: isNumber,
    updatedAt: isNumber,
    ttl: isNumber,
    deadlineAt: isNumber,
    expiresAt: isNumber,
  },
  {
    // Records of the releases before this attribute have none.
    version: oneOf(RECORD_VERSION, MOVED_VERSION),
    statusMessage: isString,
    progress: isNumber,
    progressTotal: isNumber,
    progressToken: isToken,
    legacy: isBoolean,
    isError: isBoolean,
    refused: objectOf(isNumber),
    scopes: listOf(isString),
    outputSchemaId: isString,
    digest: isString,
    accepts: listOf(isString),
    asked: isString,
    arguments: isString,
    inputResponses: objectOf(isString),
    inputRef: isString,
    memory: isString,
    memoryRound: isNumber,
    result: isString,
    error: isString,
    due: isString,
    dueAt: isNumber,
    seenRound: isInteger,
  },
);

/**
 * Whether this code understands an item of the tasks table. It may meet one that it does not: from a newer release
 * before a rollback, or made by a write that had no condition.
 */
export const isKnown = (item: unknown): item is TaskRecord => isRecord(item);

/** Throws RecordUnknown. */
export function known(item: Readonly<Record<string, unknown>>): TaskRecord {
  if (isKnown(item)) return item;
  throw new RecordUnknown(String(item.taskId));
}
