/** What is told of tasks and their callers, for whoever must know later who did what: docs/auth.md. */
export type Action = 'created' | 'input_asked' | 'input_answered' | 'cancelled' | 'finished' | 'retrieved' | 'denied';

/** Ids and names of the server's own making, and counts: nothing that a caller or a tool has written. */
export interface Facts {
  /** A hash already, of whom the task belongs to; left out where that is the task itself. */
  readonly owner?: string | undefined;
  readonly taskId?: string | undefined;
  readonly tool?: string | undefined;
  readonly round?: number;
  readonly status?: string;
  /** finished, retrieved: the tool called its own result an error. */
  readonly isError?: boolean | undefined;
  /** finished: who ended it, where that is known. */
  readonly by?: 'workflow' | 'endpoint' | 'deadline' | 'reconciler' | undefined;
  readonly reason?: string | undefined;
  /** input_answered: how many questions. */
  readonly answers?: number;
  /** created: by this call, or by one before it whose answer was lost. */
  readonly repeated?: true;
}

export type Audit = (action: Action, facts: Facts) => void;

/** One line of JSON, past `console`, which may put more than the line itself into the log. */
export const printAudit: Audit = (action, facts) => {
  process.stdout.write(`${auditLine(action, facts)}\n`);
};

export function auditLine(action: Action, { owner, ...facts }: Facts): string {
  const whose = owner?.startsWith('task#') ? undefined : owner;
  return JSON.stringify({ event: 'audit', action, owner: whose, ...facts });
}
