import type { ToolFacts } from '../../../../functions/operator/context.ts';
import { type Explanation, explain } from '../../../../functions/operator/explain/index.ts';
import { type FailureReason, failure, runFailure } from '../../../../functions/tasks/failures.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { after } from '../../../../functions/tasks/transitions/change.ts';
import { fail } from '../../../../functions/tasks/transitions/end.ts';
import { MACHINES } from '../../../support/engine/executions.ts';
import { arnOf, asking, EXPRESS_TOOL, KEY, MINUTE, operatorOn, T0, task } from '../operators.ts';

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
const REPEATABLE = { repeatable: true };
export const failed = (
  reason: FailureReason,
  data?: Readonly<Record<string, unknown>>,
  more: Partial<TaskRecord> = {},
) => after(task(more), fail(failure(reason, data), T0 + 1));
const crashed = (error: string) => after(task(), fail(runFailure(error), T0 + 1));
const by = (what: 'cancelled' | 'failed', more: object) => ({ events: [{ at: T0 + 1, what, ...more }] }) as const;
const state = (id: number, type: string, name?: string, error?: string) => ({
  ...{ id, previousEventId: id - 1, type, timestamp: new Date(T0 + id) },
  ...(name !== undefined && { stateEnteredEventDetails: { name } }),
  ...(error !== undefined && { taskFailedEventDetails: { error } }),
});
const OLD = limits.startWithin + 1;
const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
const ofSchema = (result: unknown, outputSchemaId = 's') =>
  task({ status: 'completed', result: JSON.stringify(result), outputSchemaId });
const SCHEMA = { outputSchema: schema, outputSchemaId: 's' };

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'completed, past its ttl': { record: task({ status: 'completed' }), now: task().ttl },
  'open, past its ttl': { record: task({ deadlineAt: T0 + 2 * task().ttl }), now: task().ttl },
  asks: { record: asking(['a'], { round: 2 }) },
  'asks, after answers that were not valid': { record: asking(['a'], { events: [{ at: T0, what: 'refused' }] }) },
  'asked, and got no answer': { record: asking(), now: asking().deadlineAt - T0 + 30_001 },
  'sleeps until tomorrow': {
    record: task({ status: 'waiting', waits: `{"night":{"kind":"time","until":${T0 + 86_400_000}}}` }),
  },
  'waits for a person': {
    record: task({ status: 'waiting', waits: `{"approval":{"kind":"link","until":${T0 + 86_400_000}}}` }),
  },
  'waits for a system that has answered': {
    record: task({
      status: 'waiting',
      waits: `{"job":{"kind":"webhook","until":${T0 + 86_400_000}}}`,
      signalled: ['job'],
    }),
  },
  'has more to do': { record: task({ status: 'waiting', waits: '{"more":{"kind":"more"}}' }) },
  'works, its tool was removed': { record: task(), tool: null },
  'throttled once': { record: task(), run: 'RUNNING', failures: ['Lambda.TooManyRequestsException'] },
  'throttled twice': { record: task(), run: 'RUNNING', failures: ['Lambda.ENILimitReached', 'Lambda.EFSMountTimeout'] },
  'throttled, and its run has ended': { record: task(), run: 'FAILED', failures: ['Lambda.TooManyRequestsException'] },
  'crashed once': { record: task(), run: 'RUNNING', failures: ['Runtime.ExitError'] },
  'crashed twice, may be repeated': {
    record: task(),
    tool: REPEATABLE,
    run: 'RUNNING',
    failures: ['Sandbox.Timedout', 'Lambda.Unknown'],
  },
  'made 35 s ago, no run': { record: task(), now: limits.startWithin },
  'made more than 35 s ago, no run': { record: task(), now: OLD },
  'made more than 35 s ago, its run was seen': { record: task({ seenRound: 1 }), now: OLD },
  'answered 35 s ago, no run': { record: task({ round: 2 }), now: limits.startWithin },
  'answered more than 35 s ago, no run': { record: task({ round: 2, seenRound: 1 }), now: OLD },
  'answered more than 35 s ago, its run was seen': { record: task({ round: 2, seenRound: 2 }), now: OLD },
  'works, its run has failed': { record: task(), run: 'FAILED', error: 'TypeError' },
  'works, its run has succeeded': { record: task(), run: 'SUCCEEDED' },
  'on Express': { record: task({ engine: 'express' }), tool: EXPRESS_TOOL },
  'on Express, started again in this round': {
    record: task({ engine: 'express', events: [{ at: T0, what: 'restarted' }] }),
    tool: EXPRESS_TOOL,
  },
  'on Express, started again in another round': {
    record: task({ engine: 'express', round: 2, events: [{ at: T0, what: 'restarted' }] }),
    tool: EXPRESS_TOOL,
  },
  'on Express, its tool may not be repeated any more': { record: task({ engine: 'express' }) },
  'on Standard, its tool is on Express now': { record: task(), run: 'RUNNING', tool: EXPRESS_TOOL },
  'deployed when its run began': { record: task(), run: 'RUNNING', tool: { changedAt: T0 } },
  'deployed after its run began': { record: task(), run: 'RUNNING', tool: { changedAt: T0 + 1 } },
  works: { record: task(), run: 'RUNNING' },
  'works in a state': {
    record: task(),
    run: 'RUNNING',
    tool: { stateMachineArn: OWN },
    states: [state(1, 'TaskStateEntered', 'Charge')],
  },
  'works, after failed tries in a state': {
    record: task(),
    ...{ run: 'RUNNING', tool: { stateMachineArn: OWN } },
    states: [
      state(1, 'TaskStateEntered', 'Charge'),
      state(2, 'TaskScheduled'),
      state(3, 'TaskFailed', undefined, 'Throttled'),
      state(4, 'TaskScheduled'),
      state(5, 'TaskFailed', undefined, 'Throttled'),
    ],
  },
  'idempotency key expired': { record: failed('KeyExpired') },
  'not started': { record: failed('NotStarted') },
  'not started, its tool was removed': { record: failed('NotStarted'), tool: null },
  'failed by an operator': { record: failed('EndedByOperator', {}, by('failed', {})), tool: REPEATABLE },
  'throttled until its deadline': {
    record: failed('Throttled'),
    ...{ run: 'FAILED', failures: ['Lambda.TooManyRequestsException'], tool: REPEATABLE },
  },
  'timed out': { record: failed('TimedOut', { reason: 'States.Timeout' }), run: 'FAILED' },
  'no outcome by its deadline': { record: task(), now: task().deadlineAt - T0 + 30_001 },
  'failed by a crash': { record: crashed('Runtime.ExitError'), run: 'FAILED', failures: ['Runtime.ExitError'] },
  'failed by a second crash': {
    record: crashed('Lambda.Unknown'),
    run: 'FAILED',
    failures: ['Lambda.Unknown', 'Lambda.Unknown'],
  },
  'input lost': { record: failed('InputLost') },
  'asked in a form that is not valid': { record: failed('InputRequestInvalid') },
  'asked for what the client cannot give': { record: failed('InputNotSupported') },
  'asked for too much': { record: failed('InputRequestTooLarge') },
  'three answers that are not valid': { record: failed('AnswerInvalid') },
  'run lost': { record: failed('RunLost', { reason: 'Aborted' }) },
  'threw an error': { record: crashed('TypeError'), run: 'FAILED', failures: ['TypeError'] },
  'threw an error, may be repeated': { record: crashed('TypeError'), run: 'FAILED', tool: REPEATABLE },
  'refused by its client': { record: failed('ClientRefused') },
  'failed in a state': {
    record: failed('ToolFailed'),
    ...{ run: 'FAILED', tool: { stateMachineArn: OWN } },
    states: [
      state(1, 'TaskStateEntered', 'A'),
      state(2, 'TaskFailed', undefined, 'E'),
      ...[3, 4].map((id) => state(id, 'TaskFailed', undefined, 'F')),
    ],
  },
  'result does not fit its schema': { record: ofSchema({ n: 'x' }), tool: SCHEMA, payload: true },
  'result does not fit its schema, which may not be read': { record: ofSchema({ n: 'x' }), tool: SCHEMA },
  'result fits its schema': { record: ofSchema({ n: 1 }), tool: SCHEMA, payload: true },
  'result has another schema': { record: ofSchema({ n: 'x' }, 'older'), tool: SCHEMA, payload: true },
  'structured content does not fit its schema': {
    record: ofSchema({ structuredContent: { n: 'x' } }),
    tool: SCHEMA,
    payload: true,
  },
  'content without structured content': { record: ofSchema({ content: [] }), tool: SCHEMA, payload: true },
  'an error result is held against no schema': {
    record: ofSchema({ isError: true, content: [] }),
    tool: SCHEMA,
    payload: true,
  },
  'six problems, five are shown': {
    record: ofSchema(Object.fromEntries([...'abcdef'].map((name) => [name, 1]))),
    tool: { ...SCHEMA, outputSchema: { ...schema, required: [], additionalProperties: false } },
    payload: true,
  },
  'a schema of draft 7': {
    record: ofSchema({ n: [1, 'x'] }),
    tool: {
      ...SCHEMA,
      outputSchema: {
        $schema: 'http://json-schema.org/draft-07/schema#',
        properties: { n: { items: [{ type: 'number' }, { type: 'number' }] } },
      },
    },
    payload: true,
  },
  'cancelled by its client': { record: task({ status: 'cancelled', ...by('cancelled', {}) }) },
  'cancelled by its client, after an operator had answered': {
    record: task({
      status: 'cancelled',
      events: [
        { at: T0, what: 'answered', by: 'operator', who: 'ann' },
        { at: T0 + 1, what: 'cancelled', by: 'endpoint' },
      ],
    }),
  },
  'cancelled by an operator': {
    record: task({ status: 'cancelled', ...by('cancelled', { by: 'operator', who: 'ann', reason: 'INC-7' }) }),
  },
  'cancelled by an operator without a name': {
    record: task({ status: 'cancelled', ...by('cancelled', { by: 'operator' }) }),
    tool: REPEATABLE,
  },
  'returned an error': { record: task({ status: 'completed', isError: true }), run: 'SUCCEEDED' },
  'arguments refused': { record: task({ status: 'completed', isError: true }) },
  completed: { record: task({ status: 'completed' }), run: 'SUCCEEDED' },
  'of another release': { record: task({ version: 99 }) },
};

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
