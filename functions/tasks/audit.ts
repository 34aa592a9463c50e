/** What the audit log records of tasks and their callers: docs/auth.md. */
export type Action = 'created' | 'input_asked' | 'input_answered' | 'cancelled' | 'finished' | 'retrieved' | 'denied';

/** Ids, names and counts that the server makes itself: nothing that a caller or a tool wrote. */
export interface Facts {
  /** A hash of the owner of the task. Left out where the task owns itself. */
  readonly owner?: string | undefined;
  readonly taskId?: string | undefined;
  readonly tool?: string | undefined;
  readonly round?: number;
  readonly status?: string;
  /** finished, retrieved: the tool called its own result an error. */
  readonly isError?: boolean | undefined;
  /** finished: what ended it, if known. */
  readonly by?: 'workflow' | 'endpoint' | 'deadline' | 'reconciler' | undefined;
  readonly reason?: string | undefined;
  /** input_answered: how many questions. */
  readonly answers?: number;
  /** created: an earlier call may have created it, if its answer was lost. */
  readonly repeated?: true;
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
