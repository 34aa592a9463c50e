import { isDeepStrictEqual } from 'node:util';
import type { FailureReason, RpcError } from '../../../../functions/tasks/failures.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { updateExpression } from '../../../../functions/tasks/table/store.ts';
import { failAsSeen } from '../../../../functions/tasks/transitions/end.ts';
import { objectOf } from '../../../../local/testing.ts';
import { fromItem, type Item } from '../../../support/engine/values.ts';

const VERDICTS: readonly FailureReason[] = ['InputRequestInvalid', 'InputRequestTooLarge', 'InputNotSupported'];

/**
 * Whether a call is the write of `storeUnaskable` (functions/mcp/read/read.ts), to the letter. The first reader of a task
 * that asks what its client cannot be asked makes it, also a reader who is refused. No client sees a difference.
 */
export function isVerdict(operation: string, input: unknown): boolean {
  if (operation !== 'UpdateItem') return false;
  const { TableName: _, Key, ExpressionAttributeValues: given, ...update } = objectOf(input);
  const values = fromItem(objectOf(given) as Item);
  const { ':inRound': round, ':updatedAt': updatedAt, ':failure': failed, ':error': text } = values;
  const reason = VERDICTS.find((one) => one === failed);
  if (reason === undefined || typeof text !== 'string') return false;
  const error = JSON.parse(text) as RpcError;
  const record = { status: 'input_required', round } as TaskRecord;
  const { ExpressionAttributeValues, ...expected } = updateExpression(
    failAsSeen(record, { reason, error }, Number(updatedAt)),
    String(fromItem(objectOf(Key) as Item).taskId),
    'endpoint',
  );
  return (
    isDeepStrictEqual(values, ExpressionAttributeValues) &&
    isDeepStrictEqual(update, { ...expected, ReturnValues: 'NONE' })
  );
}
