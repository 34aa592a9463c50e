import { FAILURES, type FailureReason } from '../../tasks/failures.ts';
import { errorOf } from '../view.ts';
import { failuresOf, type TaskFacts } from './facts.ts';
import { CRASHED, LOGS, operatorOf, RERUN, type Row, rerun, THROTTLED, times } from './row.ts';
import { machineFailure } from './working.ts';

const failed = ({ seen }: TaskFacts) => seen?.status === 'failed';
/** Whether it failed for one of these reasons. */
const because =
  (...reasons: readonly (FailureReason | undefined)[]) =>
  (facts: TaskFacts) =>
    failed(facts) && reasons.includes(facts.seen?.failure);
const message = ({ seen, record }: TaskFacts) => errorOf(seen ?? record)?.message ?? '';

/** The rows of `rows.ts` for tasks that failed. */
export const FAILED_ROWS: readonly Row[] = [
  {
    name: 'its questions were not answered',
    row: FAILURES.NotAnswered.row,
    fits: because('NotAnswered'),
    why: () => ['It asked its client, and no answer came before its deadline.'],
    next: rerun,
  },
  {
    name: 'idempotency key expired',
    row: FAILURES.KeyExpired.row,
    fits: because('KeyExpired'),
    why: () => [
      'Its idempotency key belonged to an older task, which has expired. Step Functions keeps the name of that run for 90 days.',
      'So its round could not run. The client has to call again with a new key.',
    ],
    next: () => [],
  },
  {
    name: 'could not be started',
    row: FAILURES.NotStarted.row,
    fits: because('NotStarted'),
    why: () => [
      'Its first run was never started: Step Functions refused it, or the endpoint died before it. Nothing ran.',
    ],
    next: rerun,
  },
  {
    name: 'ended by an operator',
    row: FAILURES.EndedByOperator.row,
    fits: because('EndedByOperator'),
    why: (facts) => [`An operator ended it${operatorOf(facts)}.`],
    next: rerun,
  },
  {
    name: 'throttled until its deadline',
    row: FAILURES.Throttled.row,
    fits: (facts) => because('TimedOut', 'Throttled')(facts) && failuresOf(facts, THROTTLED).length > 0,
    why: (facts) => [`Lambda refused its function ${times(failuresOf(facts, THROTTLED).length)}, until the deadline.`],
    next: () => ['aws lambda get-account-settings --query AccountLimit', RERUN],
  },
  {
    name: 'out of time',
    row: FAILURES.TimedOut.row,
    fits: because('TimedOut', 'NotFinished'),
    why: (facts) => [
      `It did not end within the timeout of its tool (${facts.reason}).`,
      ...(facts.seen?.failure === 'NotFinished'
        ? ['No run wrote an outcome, so every reader computed this one (row 21).']
        : []),
    ],
    next: () => [LOGS, RERUN],
  },
  {
    name: 'crashed',
    row: FAILURES.Crashed.row,
    fits: because('Crashed'),
    why: (facts) => {
      const tries = failuresOf(facts, CRASHED).length;
      return [
        `Its function crashed (${facts.reason})${tries > 1 ? `, ${times(tries)} in a row: the workflow had tried it again` : ''}.`,
        ...(facts.reason === 'Runtime.ExitError' ? ['Its process ended: out of memory, or an exit of its own.'] : []),
      ];
    },
    next: () => [LOGS, RERUN],
  },
  {
    name: 'input lost',
    row: FAILURES.InputLost.row,
    fits: because('InputLost'),
    why: () => ['What it was called with, or asked, lay in S3 and is gone or changed there.'],
    next: () => [],
  },
  {
    name: 'questions not valid',
    row: FAILURES.AnswerInvalid.row,
    fits: because('InputRequestInvalid', 'InputNotSupported', 'InputRequestTooLarge', 'AnswerInvalid'),
    why: (facts) => [`${message(facts)} (${facts.reason}).`],
    next: () => [LOGS],
  },
  {
    name: 'its run ended without a result',
    row: FAILURES.RunLost.row,
    fits: because('RunLost'),
    why: (facts) => [`Its run was stopped, timed out or died before it wrote an outcome (${facts.reason}).`],
    next: () => ['mcp-task-server tasks show ID', RERUN],
  },
  {
    name: 'failed',
    row: ({ seen }) => FAILURES[seen?.failure ?? 'ToolFailed'].row,
    fits: failed,
    why: (facts) => [
      `${message(facts)}${facts.reason === undefined ? '' : ` (${facts.reason})`}.`,
      ...machineFailure(facts),
    ],
    next: () => [LOGS, RERUN],
  },
];
