import type { Writer } from './record.ts';

/** What the audit log records of tasks and their callers: docs/auth.md. */
export type Action = ChangeAction | SubscriptionAction | 'repeated' | 'retrieved' | 'denied';
/** Written for a change of a subscription to MCP events by its client. */
export type SubscriptionAction = 'subscribed' | 'renewed' | 'unsubscribed';
/** Written for each committed change of a record, by `functions/task-events`. */
export type ChangeAction =
  | 'created'
  | 'input_asked'
  | 'input_answered'
  | 'waits'
  | 'signalled'
  | 'resumed'
  | 'cancelled'
  | 'finished'
  | 'restored';

/** Ids, names and counts that the server makes itself: nothing that a caller or a tool wrote. */
export interface Facts {
  /** A hash of the owner of the task. Left out where the task owns itself. */
  readonly owner?: string | undefined;
  readonly taskId?: string | undefined;
  /** denied: how many tasks of one request. The id is the first one's. Left out for one. */
  readonly tasks?: number;
  readonly tool?: string | undefined;
  readonly round?: number;
  /** Of the trace of the call that created the task: 32 hexadecimal digits that the caller chose. */
  readonly traceId?: string | undefined;
  readonly status?: string;
  /** finished, retrieved: the tool called its own result an error. */
  readonly isError?: boolean | undefined;
  /** finished: what ended it, if known. */
  readonly by?: 'workflow' | 'deadline' | Writer | undefined;
  readonly reason?: string | undefined;
  /** input_answered: how many questions. */
  readonly answers?: number;
  /** The id of a subscription, and the type of its events. */
  readonly subscription?: string;
  readonly name?: string;
  /** renewed: what has changed. */
  readonly changed?: readonly ('secret' | 'scopes')[];
}

export type Audit = (action: Action, facts: Facts) => void;

/** One line of JSON. Not by `console`, which may add to the line. */
export const printAudit: Audit = (action, facts) => {
  process.stdout.write(`${auditLine(action, facts)}\n`);
};

export function auditLine(action: Action, { owner, ...facts }: Facts): string {
  const whose = owner?.startsWith('task#') ? undefined : owner;
  return JSON.stringify({ event: 'audit', action, owner: whose, ...facts });
}
