import { TASK_OVER } from '../tasks/aws/workflow.ts';
import type { RoundInput } from '../tasks/round-input.ts';
import type { Execution } from './describe.ts';
import { type Done, type ReconcilerContext, reconcileEnded } from './reconcile.ts';

/** The fields used of an EventBridge "Step Functions Execution Status Change". */
export interface StatusChange {
  readonly executionArn: string;
  readonly status: Execution['status'];
  /** JSON text. Absent or null when it is too large for the event. */
  readonly input?: string | null;
  readonly error?: string | null;
}

/** Settles the task of a run that ended badly, without a wait for the sweep (docs/crash-table.md, row 13). */
export async function settleEnded(change: StatusChange, context: ReconcilerContext): Promise<Done> {
  // Otherwise a run with a large input would be asked for, and other callers of the account share that quota.
  if (change.status === 'ABORTED' && change.error === TASK_OVER) return 'nothing';
  const { input, error } = isWhole(change) ? change : await context.describe(change.executionArn);
  const round = roundOf(input);
  if (round === undefined) return 'nothing';
  const run = { status: change.status, error: error ?? undefined, input: input ?? undefined };
  return reconcileEnded(round, change.executionArn, run, context);
}

/** Whether the event holds all that is needed. Only a failure has the name of an error. */
function isWhole({ status, input, error }: StatusChange): boolean {
  return typeof input === 'string' && (status !== 'FAILED' || error !== undefined);
}

function roundOf(input: string | null | undefined): RoundInput | undefined {
  try {
    const round = JSON.parse(input ?? 'null') as RoundInput | null;
    const valid = typeof round?.owner === 'string' && typeof round.taskId === 'string' && Number.isInteger(round.round);
    return valid ? round : undefined;
  } catch {
    return undefined;
  }
}
