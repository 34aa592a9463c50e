/**
 * The attributes of a record that an operator may read without the right to payloads. None holds what a client or a tool
 * wrote: no argument, question, answer, result, message or token. The policy of operators names the same ones.
 */
export const SHOWN = [
  'owner',
  'taskId',
  'version',
  'status',
  'round',
  'tool',
  'createdAt',
  'updatedAt',
  'ttl',
  'deadlineAt',
  'legacy',
  'scopes',
  'outputSchemaId',
  'accepts',
  'inputRef',
  'isError',
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
export const PAYLOAD = ['asked', 'arguments', 'inputResponses', 'result', 'statusMessage', 'kept', 'digest'] as const;

/** What the acts of an operator name: the conditions and the changes of `cancel`, `fail`, `answer` and a start. */
export const WRITTEN = [
  ...SHOWN.filter((name) => !['tool', 'createdAt', 'ttl', 'deadlineAt', 'legacy', 'scopes', 'accepts'].includes(name)),
  'statusMessage',
  'asked',
  'arguments',
  'inputResponses',
  'refused',
  'progressToken',
  'memory',
  'memoryRound',
];
