/** A wrong option or value. The message says which one, and which values there are. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
