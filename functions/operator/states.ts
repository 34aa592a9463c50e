import { type HistoryEvent as Event, GetExecutionHistoryCommand } from '@aws-sdk/client-sfn';
import type { HistoryEvent } from '../tasks/aws/execution-history.ts';
import { isErrorName } from '../tasks/log.ts';
import type { States } from './context.ts';

/** One stay of an execution in a state of the state machine that is its tool. Times in ms since the epoch. */
export interface StateVisit {
  readonly name: string;
  readonly from: number;
  /** Undefined: it is there now. */
  readonly to?: number;
  /** Tries at the work of a task state, the oldest first. Other states have none. */
  readonly tries: readonly Try[];
}

export interface Try {
  readonly from: number;
  /** Undefined: it works now. */
  readonly to?: number;
  /** The name of the error that ended it. */
  readonly error?: string;
}

/** What is read of an event. */
export interface StateEvent extends HistoryEvent, Partial<Pick<Event, 'id' | 'previousEventId'>> {
  readonly type?: string | undefined;
}

/** Events of one execution that are read, the newest: GetExecutionHistory returns no more at once. */
const EVENTS = 1_000;

/**
 * The states that the execution of a state machine has visited, in the order in which it entered them, as far as its newest
 * 1,000 events say. Throws errors of Step Functions.
 */
export async function visitsOf(executionArn: string, states: States): Promise<StateVisit[]> {
  const newest = { maxResults: EVENTS, reverseOrder: true, includeExecutionData: false };
  const { events = [] } = await states.send(new GetExecutionHistoryCommand({ executionArn, ...newest }));
  return visitsIn(events.toReversed());
}

const WORK = '(?:Task|LambdaFunction|Activity)';
const SCHEDULED = new RegExp(`^${WORK}Scheduled$`);
const SUCCEEDED = new RegExp(`^${WORK}Succeeded$`);
const FAILED = new RegExp(`^${WORK}(?:\\w*Failed|TimedOut)$|^EvaluationFailed$`);
const OVER = /^Execution(?:Succeeded|Failed|TimedOut|Aborted)$/;

type Open<T> = { -readonly [K in keyof T]: T[K] };
type OpenVisit = Omit<Open<StateVisit>, 'tries'> & { tries: Open<Try>[] };

/** The name of an error that is not known. */
const UNKNOWN = 'Error';

/** `events` from the oldest to the newest. The events before theirs identify branches of a Parallel and of a Map. */
export function visitsIn(events: readonly StateEvent[]): StateVisit[] {
  const before = new Map(events.map(({ id, previousEventId }) => [id, previousEventId]));
  const entered = new Map<number | undefined, OpenVisit>();
  /** The state that an event belongs to: the last one that was entered on the way to it. */
  const visitAt = (event: StateEvent, name?: string): OpenVisit | undefined => {
    for (let id = before.get(event.id); id !== undefined; id = before.get(id)) {
      const visit = entered.get(id);
      if (visit !== undefined && (name === undefined || visit.name === name)) return visit;
    }
    return undefined;
  };
  const leave = (visit: OpenVisit | undefined, at: number) => {
    if (visit === undefined || visit.to !== undefined) return;
    visit.to = at;
    const last = visit.tries.at(-1);
    if (last !== undefined) last.to ??= at;
  };
  for (const event of events) {
    const { id, type = '', timestamp, stateEnteredEventDetails, stateExitedEventDetails } = event;
    const at = timestamp?.getTime() ?? 0;
    const name = stateEnteredEventDetails?.name;
    // Of a state of the type Fail only the end of the execution says the error.
    if (type === 'FailStateEntered')
      entered.set(id, { name: name ?? '', from: at, to: at, tries: [{ from: at, to: at, error: UNKNOWN }] });
    else if (name !== undefined) entered.set(id, { name, from: at, tries: [] });
    else if (stateExitedEventDetails?.name !== undefined) leave(visitAt(event, stateExitedEventDetails.name), at);
    else if (SCHEDULED.test(type)) visitAt(event)?.tries.push({ from: at });
    else if (SUCCEEDED.test(type)) endTry(visitAt(event), at);
    else if (FAILED.test(type)) endTry(visitAt(event), at, errorOf(event));
    else if (/StateAborted$/.test(type)) leave(visitAt(event), at);
    else if (OVER.test(type)) {
      const last = visitAt(event)?.tries.at(-1);
      if (last?.error === UNKNOWN && type === 'ExecutionFailed') last.error = errorOf(event);
      for (const visit of entered.values()) leave(visit, at);
    }
  }
  return [...entered.values()];
}

/** What fails without a try of its own, such as the evaluation of an expression, is a try that took no time. */
function endTry(visit: OpenVisit | undefined, at: number, error?: string): void {
  const last = visit?.tries.at(-1);
  if (last !== undefined && last.to === undefined)
    Object.assign(last, { to: at, ...(error !== undefined && { error }) });
  else if (error !== undefined) visit?.tries.push({ from: at, to: at, error });
}

/** `TaskFailed` has `taskFailedEventDetails`. */
function errorOf({ type = '', ...event }: StateEvent): string {
  const member = `${type.charAt(0).toLowerCase()}${type.slice(1)}EventDetails`;
  const { error } = ((event as Record<string, unknown>)[member] ?? {}) as { readonly error?: unknown };
  return isErrorName(error) ? error : UNKNOWN;
}

/** The visits to one state. */
export interface StateSummary {
  readonly name: string;
  readonly visits: readonly StateVisit[];
  /** Failed tries, by the name of the error, the oldest first. */
  readonly errors: readonly string[];
}

/** In the order in which the states were entered first. */
export function byState(visits: readonly StateVisit[]): StateSummary[] {
  return [...Map.groupBy(visits, ({ name }) => name)].map(([name, all]) => ({
    name,
    visits: all,
    errors: all.flatMap(({ tries }) => tries.flatMap(({ error }) => (error === undefined ? [] : [error]))),
  }));
}
