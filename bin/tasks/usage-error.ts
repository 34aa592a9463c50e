import { NotAllowed, OperatorError } from '../../functions/operator/errors.ts';
import { BACKFILLING } from '../../functions/tasks/aws/client.ts';

/** A wrong option or value. The message says which one, and which values there are. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The text of an error for an operator. AWS's errors name the refused action, and no argument of a task. */
export function messageOf(error: unknown): string {
  if (error instanceof UsageError || error instanceof OperatorError) return error.message;
  const { name, message } = error as Error;
  if (name === BACKFILLING) {
    return 'The index of tasks by status is being built: lists, and searches for the end of an id, work once DynamoDB has filled it';
  }
  if (/AccessDenied/.test(name)) return new NotAllowed('AWS refused', 'read', `do that (${message})`).message;
  return name === 'Error' ? message : `${name}: ${message}`;
}
