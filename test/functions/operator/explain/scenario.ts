import type { ToolFacts } from '../../../../functions/operator/context.ts';
import { type Explanation, explain } from '../../../../functions/operator/explain/index.ts';
import { type FailureReason, failure, runFailure } from '../../../../functions/tasks/failures.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { after } from '../../../../functions/tasks/transitions/change.ts';
import { fail } from '../../../../functions/tasks/transitions/end.ts';
import { MACHINES } from '../../../support/engine/executions.ts';
import { arnOf, KEY, MINUTE, operatorOn, T0, task } from '../operators.ts';

/** A task, and what is known of its run. */
export interface Scenario {
  readonly record: TaskRecord;
  /** Null: the server does not have it any more. */
  readonly tool?: Partial<ToolFacts> | null;
  /** How the run of its round ended, or `RUNNING`. Undefined: there is none. */
  readonly run?: string;
  readonly error?: string;
  /** Names of the errors of attempts that failed. */
  readonly failures?: readonly string[];
  /** Events of the state machine that is the tool. */
  readonly states?: readonly object[];
  /** In ms after T0. @default a minute */
  readonly now?: number;
  readonly payload?: boolean;
}

export const OWN = `${MACHINES}own`;
export const REPEATABLE = { repeatable: true };
export const failed = (
  reason: FailureReason,
  data?: Readonly<Record<string, unknown>>,
  more: Partial<TaskRecord> = {},
) => after(task(more), fail(failure(reason, data), T0 + 1));
export const crashed = (error: string) => after(task(), fail(runFailure(error), T0 + 1));
export const by = (what: 'cancelled' | 'failed', more: object) =>
  ({ events: [{ at: T0 + 1, what, ...more }] }) as const;
export const state = (id: number, type: string, name?: string, error?: string) => ({
  ...{ id, previousEventId: id - 1, type, timestamp: new Date(T0 + id) },
  ...(name !== undefined && { stateEnteredEventDetails: { name } }),
  ...(error !== undefined && { taskFailedEventDetails: { error } }),
});
export const TOMORROW = T0 + 86_400_000;
export const waiting = (waits: string, more: Partial<TaskRecord> = {}) =>
  task({ status: 'waiting', waits: `{${waits}}`, ...more });
export const OLD = limits.startWithin + 1;

/** A server with this task. */
export function serverOf({ record, tool = {}, run, error, failures = [], states, now = MINUTE }: Scenario) {
  const server = operatorOn([record], tool);
  const { executions, histories, clock } = server;
  clock.now = T0 + now;
  const arn = arnOf(record.round);
  if (run !== undefined) executions.put(arn, { status: run as 'RUNNING', startDate: T0, error });
  histories[arn] = failures.map((name, i) => ({
    timestamp: new Date(T0 + i),
    taskFailedEventDetails: { error: name },
  }));
  if (states !== undefined) histories[arn.replace('S-standard:', 'S-own:')] = [...states];
  return server;
}

export const explained = (scenario: Scenario): Promise<Explanation> =>
  explain(KEY, scenario.payload ?? false, serverOf(scenario).context);
