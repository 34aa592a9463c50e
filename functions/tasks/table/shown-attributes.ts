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
  'express',
  'legacy',
  'scopes',
  'outputSchemaId',
  'accepts',
  'inputRef',
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
export const PAYLOAD = ['asked', 'arguments', 'inputResponses', 'result', 'statusMessage', 'kept', 'digest'] as const;

/**
 * What `cancel` and `fail` of an operator name. No payload is among them: DynamoDB lets an update copy one attribute that it
 * names into another, so who may name a payload could copy it into what the read policy shows.
 */
export const ENDED = [
  'owner',
  'taskId',
  'status',
  'round',
  'updatedAt',
  // Of a record, not of a report: text of the server.
  'statusMessage',
  'failure',
  'error',
  'events',
  'due',
  'dueAt',
] as const;

/** What `answer` names. It needs the right to payloads. */
export const ANSWERED = [
  'owner',
  'taskId',
  'version',
  'status',
  'round',
  'updatedAt',
  'dueAt',
  'seenRound',
  'express',
  'events',
  'statusMessage',
  'refused',
  'inputRef',
  'asked',
  'arguments',
  'inputResponses',
] as const;
