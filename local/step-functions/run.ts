import type { Execution } from './executions.ts';
import { type Run, runFlow } from './flow.ts';
import { payloadText } from './payload.ts';

/** What all executions of an engine share. */
export type Machinery = Pick<Run, 'integrations' | 'timers' | 'now'>;

/** Runs one execution to its end and answers its output. Throws a StatesError, or why it was aborted. */
export async function runExecution(execution: Execution, machinery: Machinery): Promise<string> {
  await nextTurn();
  const { spec, flow } = execution.machine;
  const run: Run = {
    ...machinery,
    executionArn: execution.arn,
    stateMachineArn: spec.arn,
    roleArn: spec.roleArn,
    journal: execution.journal,
  };
  const context = executionContext(execution);
  const around = { run, signal: execution.abort.signal, context, variables: {}, event: 0 };
  return payloadText(await runFlow(flow, context.Execution.Input, around), execution.name);
}

/** StartExecution answers before the first state runs, as on AWS. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** `$states.context` of the whole execution. */
function executionContext({ arn, name, machine, startDate, input = '{}' }: Execution) {
  const { spec } = machine;
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
