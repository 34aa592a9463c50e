import { limits } from './limits.ts';

/** A JSON-RPC error as stored and as sent. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

interface FailureKind {
  /** A JSON-RPC code that both revisions know (F-12). */
  readonly code: number;
  /** For people. No code decides by it. */
  readonly message: string;
  /** The row of docs/crash-table.md, or its section. */
  readonly row: string;
  /** What clients see as `data.reason`. Left out: the name of the error that the run ended with, if there is one. */
  readonly shown?: string;
}

const INTERNAL = -32603;
const OUT_OF_TIME = 'The tool ran out of its time';

/** Every way a task fails. A record stores its name: code decides by it alone. */
export const FAILURES = {
  NotStarted: { code: INTERNAL, message: 'The task could not be started', row: '2–4' },
  KeyExpired: {
    code: -32602,
    message: 'The task of this idempotency key has expired: use a new key',
    row: '6',
  },
  Throttled: { code: INTERNAL, message: 'The tool is busy: it was throttled on every try', row: '8' },
  TimedOut: { code: INTERNAL, message: OUT_OF_TIME, row: '9' },
  NotFinished: { code: INTERNAL, message: 'The tool did not finish in time', row: '9', shown: 'DeadlineExceeded' },
  NotAnswered: { code: INTERNAL, message: 'No answer came before the deadline', row: '17', shown: 'DeadlineExceeded' },
  ResultTooLarge: {
    code: INTERNAL,
    message: "The tool's result is too large: a workflow carries at most 256 KiB",
    row: '10',
  },
  ResponseTooLarge: {
    code: INTERNAL,
    message: "The tool's result is too large: a function returns at most 6 MB",
    row: '10',
  },
  ResultNotStored: { code: INTERNAL, message: "The tool's result could not be stored", row: '11' },
  Crashed: { code: INTERNAL, message: 'The tool failed', row: '7' },
  ToolFailed: { code: INTERNAL, message: 'The tool failed', row: '7' },
  RunLost: { code: INTERNAL, message: 'The run of the tool ended without a result', row: '13' },
  EndedByOperator: {
    code: INTERNAL,
    message: 'An operator of the server ended the task',
    row: '14',
    shown: 'EndedByOperator',
  },
  InputLost: {
    code: INTERNAL,
    message: 'What this task was called with, or asks, can no longer be read: call the tool again',
    row: 'Data in S3',
    shown: 'InputLost',
  },
  ClientRefused: { code: INTERNAL, message: 'The client refused', row: '17' },
  AnswerInvalid: {
    code: INTERNAL,
    message: `The client gave too many answers that are not valid: ${limits.refusals.ofQuestion} to one question, or ${limits.refusals.ofRound} in one round`,
    row: '17',
    shown: 'AnswerInvalid',
  },
  InputRequestInvalid: {
    code: INTERNAL,
    message: 'The tool asked for input in a form that is not valid',
    row: '17',
    shown: 'InputRequestInvalid',
  },
  WaitInvalid: {
    code: INTERNAL,
    message: 'The tool waits in a form that is not valid',
    row: '24',
    shown: 'WaitInvalid',
  },
  InputNotSupported: {
    code: INTERNAL,
    message: 'The tool needs input of a kind that the client did not declare it can give',
    row: '17',
    shown: 'InputNotSupported',
  },
  InputRequestTooLarge: {
    code: INTERNAL,
    message:
      'The tool asked for input with too much state: questions, state, arguments and earlier answers may take 240 KB together',
    row: '17',
    shown: 'InputRequestTooLarge',
  },
} as const satisfies Readonly<Record<string, FailureKind>>;

export type FailureReason = keyof typeof FAILURES;

/** Why a task fails, with the error that its clients get. */
export interface Failure {
  readonly reason: FailureReason;
  readonly error: RpcError;
}

/**
 * @param data what clients see beside the reason. Of a failed run: the name of its error as `reason`
 * @param what ends the message
 */
export function failure(reason: FailureReason, data: Readonly<Record<string, unknown>> = {}, what?: string): Failure {
  const { code, message, shown }: FailureKind = FAILURES[reason];
  const all = { ...(shown !== undefined && { reason: shown }), ...data };
  const text = what === undefined ? message : `${message} ${what}`;
  return { reason, error: { code, message: text, ...(Object.keys(all).length > 0 && { data: all }) } };
}

/** Failures of a run, by the name of its error. The workflow gets them, too (lib/workflow/failed.jsonata). */
export const RUN_FAILURES: Readonly<Record<string, FailureReason>> = {
  'Sandbox.Timedout': 'TimedOut',
  'States.Timeout': 'TimedOut',
  'States.DataLimitExceeded': 'ResultTooLarge',
  'Function.ResponseSizeTooLarge': 'ResponseTooLarge',
  'Lambda.TooManyRequestsException': 'Throttled',
  ResultStoreError: 'ResultNotStored',
};

/** Names of errors that say that the process of the tool, or Lambda, has failed. */
export const CRASHED_NAME = /^(Runtime|Sandbox|Lambda)\./;

/** What a run fails with, besides the failures above. */
const OTHER: readonly FailureReason[] = ['Crashed', 'ToolFailed'];
export const RUN_MESSAGES: Readonly<Record<string, string>> = Object.fromEntries(
  [...Object.values(RUN_FAILURES), ...OTHER].map((reason) => [reason, FAILURES[reason].message]),
);

/** @param error the name of the error that a run ended with */
export function runFailure(error: string): Failure {
  const known = Object.hasOwn(RUN_FAILURES, error) ? RUN_FAILURES[error] : undefined;
  return failure(known ?? (CRASHED_NAME.test(error) ? 'Crashed' : 'ToolFailed'), { reason: error });
}
