import { GetExecutionHistoryCommand } from '@aws-sdk/client-sfn';
import { executionArnOf } from '../tasks/ids.ts';
import { isErrorName } from '../tasks/log.ts';
import { isObject, parsed } from '../tasks/shape.ts';
import type { OperatorContext } from './context.ts';
import { isDenied, type RunFacts } from './runs.ts';
import type { StateEvent } from './states.ts';

/** What one failed attempt of a task threw, in the words of the tool. */
export interface Thrown {
  /** In ms since the epoch. */
  readonly at: number;
  readonly round: number;
  /** The name of the error. */
  readonly error: string;
  readonly message: string;
  /** The lines of its stack that name code, without lines of Node itself. */
  readonly stack?: readonly string[];
}

/** Events of one execution that are read, the newest. */
const EVENTS = 1_000;
/** Errors that are shown, the latest. */
const MOST = 20;
/** Characters of one message, and lines of one stack. */
const [MESSAGE, LINES] = [10_000, 50];

/**
 * What the failed attempts of some runs threw, the oldest first: their histories keep it. Of a tool that is a state
 * machine, what its states threw.
 *
 * @param stateMachineArn of a tool that is a state machine
 */
export async function thrownIn(
  taskId: string,
  runs: readonly RunFacts[],
  stateMachineArn: string | undefined,
  { states }: Pick<OperatorContext, 'states'>,
): Promise<Thrown[]> {
  const failed = runs.flatMap(({ round, executionArn, failures, visits = [] }) => [
    // A failed state machine fails its workflow, too, with the same words.
    ...(failures.length > 0 && visits.length === 0 ? [{ round, executionArn }] : []),
    ...(visits.some(({ tries }) => tries.some(({ error }) => error !== undefined)) && stateMachineArn !== undefined
      ? [{ round, executionArn: executionArnOf({ taskId, round }, stateMachineArn) }]
      : []),
  ]);
  const found = await Promise.all(
    failed.map(async ({ round, executionArn }) => {
      try {
        const newest = { maxResults: EVENTS, reverseOrder: true, includeExecutionData: false };
        const { events = [] } = await states.send(new GetExecutionHistoryCommand({ executionArn, ...newest }));
        return thrownBy(events.toReversed(), round);
      } catch (error) {
        if (isDenied(error)) return [];
        throw error;
      }
    }),
  );
  return found.flat().slice(-MOST);
}

interface FailureDetails {
  readonly error?: unknown;
  readonly cause: string;
}

const hasCause = (value: unknown): value is FailureDetails => isObject(value) && typeof value.cause === 'string';

/** `TaskFailed` has `taskFailedEventDetails`, with the name of the error and its cause. */
export function thrownBy(events: readonly StateEvent[], round: number): Thrown[] {
  const all = events.flatMap((event) => {
    const { timestamp, type = '' } = event;
    const at = timestamp?.getTime() ?? 0;
    const details = Object.values(event).filter(hasCause);
    return details.map(({ error, cause }) => ({
      type,
      thrown: { at, round, error: isErrorName(error) ? error : 'Error', ...saidBy(cause) },
    }));
  });
  // The end of an execution repeats what its last try threw. Of a state of the type Fail only the end says it.
  const isRepeated = ({ type, thrown }: (typeof all)[number]) =>
    type === 'ExecutionFailed' && all.some((one) => one.type !== type && one.thrown.message === thrown.message);
  return all.filter((one) => !isRepeated(one)).map(({ thrown }) => thrown);
}

/** Lambda writes `{ errorType, errorMessage, trace }`; Python calls the lines `stackTrace`. All else is plain text. */
function saidBy(cause: string): Pick<Thrown, 'message' | 'stack'> {
  const said = parsed(cause);
  if (!isObject(said) || typeof said.errorMessage !== 'string') return { message: cause.slice(0, MESSAGE) };
  const { errorMessage, trace, stackTrace } = said;
  const lines = [trace ?? stackTrace].flat().filter((line) => typeof line === 'string');
  const own = lines.filter((line) => /^\s+(at |File )(?!.*\(?node:)/.test(line)).map((line) => line.trimEnd());
  return { message: errorMessage.slice(0, MESSAGE), ...(own.length > 0 && { stack: own.slice(0, LINES) }) };
}
