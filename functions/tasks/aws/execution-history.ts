import { type HistoryEvent as Event, GetExecutionHistoryCommand, type SFNClient } from '@aws-sdk/client-sfn';

export interface ExecutionState {
  readonly name: string;
  /** When it was entered, in ms since the epoch. */
  readonly enteredAt: number;
}

/** What is read of an event of GetExecutionHistory. */
export interface HistoryEvent
  extends Partial<Pick<Event, 'timestamp' | 'stateEnteredEventDetails' | 'stateExitedEventDetails'>> {}

/** Enough to find an open state behind the events of its task, or of a few branches. */
const EVENTS = 30;

/** The state that an execution entered last and has not left. Undefined when its newest events name none. */
export async function currentState(
  stepFunctions: Pick<SFNClient, 'send'>,
  executionArn: string,
): Promise<ExecutionState | undefined> {
  const newest = { maxResults: EVENTS, reverseOrder: true, includeExecutionData: false };
  const { events = [] } = await stepFunctions.send(new GetExecutionHistoryCommand({ executionArn, ...newest }));
  return openState(events);
}

/** `events` from the newest to the oldest. */
export function openState(events: readonly HistoryEvent[]): ExecutionState | undefined {
  const left: string[] = [];
  for (const { timestamp, stateEnteredEventDetails: entered, stateExitedEventDetails: exited } of events) {
    if (exited?.name !== undefined) left.push(exited.name);
    if (entered?.name === undefined) continue;
    const at = left.indexOf(entered.name);
    if (at === -1) return { name: entered.name, enteredAt: timestamp?.getTime() ?? 0 };
    left.splice(at, 1);
  }
  return undefined;
}
