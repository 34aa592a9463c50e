import type {
  GetExecutionHistoryCommandInput,
  GetExecutionHistoryCommandOutput,
  HistoryEvent,
  SFNClientResolvedConfig,
} from '@aws-sdk/client-sfn';
import { $Command, GetExecutionHistoryInput$, type SFNClient } from '@aws-sdk/client-sfn';
import { getEndpointPlugin } from '@smithy/core/endpoints';

/** A state that an execution is in. */
export interface ExecutionState {
  readonly name: string;
  /** When it was entered, in ms since the epoch. */
  readonly enteredAt: number;
}

/** Enough to find an open state behind the events of its task, or of a few branches. */
const EVENTS = 30;

/** The state that an execution entered last and has not left. Undefined when its newest events name none. */
export async function currentState(sfn: SFNClient, executionArn: string): Promise<ExecutionState | undefined> {
  const newest = { maxResults: EVENTS, reverseOrder: true, includeExecutionData: false };
  const { events } = await sfn.send(new GetExecutionHistory({ executionArn, ...newest }));
  return openState(events ?? []);
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

const NAMESPACE = 'com.amazonaws.sfn';
type Structure = typeof GetExecutionHistoryInput$;
const structure = (name: string, members: string[], types: Structure[5]): Structure => {
  return [3, NAMESPACE, name, 0, members, types];
};
const named = structure('StateEventDetails', ['name'], [0]);
const event = structure(
  'HistoryEvent',
  ['timestamp', 'stateEnteredEventDetails', 'stateExitedEventDetails'],
  [4, () => named, () => named],
);
const output = structure('GetExecutionHistoryOutput', ['events'], [[1, NAMESPACE, 'HistoryEventList', 0, () => event]]);

/**
 * The SDK's command of this name, reduced to the fields read here. The full one describes sixty kinds of events: 6 KB
 * in every cold start.
 */
const GetExecutionHistory = $Command
  .classBuilder<GetExecutionHistoryCommandInput, GetExecutionHistoryCommandOutput, SFNClientResolvedConfig>()
  .ep({
    UseFIPS: { type: 'builtInParams', name: 'useFipsEndpoint' },
    Endpoint: { type: 'builtInParams', name: 'endpoint' },
    Region: { type: 'builtInParams', name: 'region' },
    UseDualStack: { type: 'builtInParams', name: 'useDualstackEndpoint' },
  })
  .m((command, _stack, config) => [getEndpointPlugin(config, command.getEndpointParameterInstructions())])
  .s('AWSStepFunctions', 'GetExecutionHistory')
  .n('SFNClient', 'GetExecutionHistoryCommand')
  .sc([9, NAMESPACE, 'GetExecutionHistory', 0, () => GetExecutionHistoryInput$, () => output])
  .build();
