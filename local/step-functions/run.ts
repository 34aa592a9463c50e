import type { Execution } from './executions.ts';
import { type Run, runFlow } from './flow.ts';
import type { Machine } from './machine/machine.ts';
import { payloadText } from './payload.ts';

type Started = Pick<Execution, 'arn' | 'name' | 'startDate' | 'input'>;

/** Runs one execution to its end and returns its output. Throws a StatesError, or the reason of an abort. */
export async function runExecution(
  execution: Started,
  machine: Machine,
  shared: Pick<Run, 'integrations' | 'replay' | 'history'>,
  signal: AbortSignal,
): Promise<string> {
  await shared.replay.begin();
  const { arn, roleArn } = machine.spec;
  const run: Run = { ...shared, executionArn: execution.arn, stateMachineArn: arn, roleArn };
  const context = executionContext(execution, machine);
  const flowContext = { run, signal, context, variables: {}, event: 0 };
  return payloadText(await runFlow(machine.flow, context.Execution.Input, flowContext), execution.name);
}

/** `$states.context` of the whole execution. */
function executionContext({ arn, name, startDate, input = '{}' }: Started, { spec }: Machine) {
  return {
    Execution: {
      Id: arn,
      Input: JSON.parse(input) as unknown,
      Name: name,
      RoleArn: spec.roleArn,
      StartTime: new Date(startDate).toISOString(),
      RedriveCount: 0,
    },
    StateMachine: { Id: spec.arn, Name: spec.name },
  };
}
