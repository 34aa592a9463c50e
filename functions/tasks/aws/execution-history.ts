import { type HistoryEvent as Event, GetExecutionHistoryCommand, type SFNClient } from '@aws-sdk/client-sfn';

export interface ExecutionState {
  readonly name: string;
  /** When it was entered, or the count of its Map changed, in ms since the epoch. */
  readonly enteredAt: number;
  /** How far the outermost Map is that the execution is in. Undefined where the newest events do not say it. */
  readonly map?: MapCount;
}

export interface MapCount {
  /** The name of the Map. */
  readonly name: string;
  readonly done: number;
  readonly of: number;
  /** The id of the newest event that is counted. */
  readonly event: number;
}

/** What is read of an event of GetExecutionHistory. */
export interface HistoryEvent
  extends Partial<
    Pick<
      Event,
      | 'id'
      | 'previousEventId'
      | 'timestamp'
      | 'stateEnteredEventDetails'
      | 'stateExitedEventDetails'
      | 'mapStateStartedEventDetails'
      | 'mapIterationSucceededEventDetails'
    >
  > {}

/** Enough to find an open state behind the events of a few branches, and to count a Map between two reads. */
const EVENTS = 300;

/**
 * The state that an execution entered last and has not left. Undefined when its newest events name none.
 *
 * @param before what an earlier read has counted of the Map
 */
export async function currentState(
  stepFunctions: Pick<SFNClient, 'send'>,
  executionArn: string,
  before?: MapCount,
): Promise<ExecutionState | undefined> {
  const newest = { maxResults: EVENTS, reverseOrder: true, includeExecutionData: false };
  const { events = [] } = await stepFunctions.send(new GetExecutionHistoryCommand({ executionArn, ...newest }));
  return openState(events, before);
}

/** `events` from the newest to the oldest. */
export function openState(events: readonly HistoryEvent[], before?: MapCount): ExecutionState | undefined {
  const left: string[] = [];
  for (const { timestamp, stateEnteredEventDetails: entered, stateExitedEventDetails: exited } of events) {
    if (exited?.name !== undefined) left.push(exited.name);
    if (entered?.name === undefined) continue;
    const at = left.indexOf(entered.name);
    if (at === -1) {
      const map = openMap(events, before);
      return { name: entered.name, enteredAt: timestamp?.getTime() ?? 0, ...(map && { map }) };
    }
    left.splice(at, 1);
  }
  return undefined;
}

/**
 * The count of the outermost open Map. AWS has no count: it is made of the events since the Map has started, or since the
 * count of an earlier read. Of a Map whose start lies before these events, nothing is known.
 */
function openMap(events: readonly HistoryEvent[], before?: MapCount): MapCount | undefined {
  const event = events[0]?.id ?? 0;
  const ended = (name: string, after: number) =>
    events.filter(({ id = 0, mapIterationSucceededEventDetails: item }) => item?.name === name && id > after).length;
  const hasLeft = (name: string, after: number) =>
    events.some(({ id = 0, stateExitedEventDetails: exited }) => exited?.name === name && id > after);
  const starts = new Map(
    events.flatMap(({ previousEventId, mapStateStartedEventDetails: started }) =>
      started?.length === undefined ? [] : [[previousEventId, started.length]],
    ),
  );
  for (const { id = 0, stateEnteredEventDetails: entered } of events.toReversed()) {
    const [name, of] = [entered?.name, starts.get(id)];
    if (name !== undefined && of !== undefined && !hasLeft(name, id)) return { name, done: ended(name, id), of, event };
  }
  const oldest = events.at(-1)?.id ?? 0;
  if (before === undefined || oldest > before.event + 1 || hasLeft(before.name, before.event)) return undefined;
  return { ...before, done: before.done + ended(before.name, before.event), event };
}
