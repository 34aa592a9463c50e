import { onTestFinished } from 'vitest';
import { executionName } from '../../../functions/tasks/ids.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { roundInput } from '../../../functions/tasks/round-input.ts';
import { definition } from '../../../lib/workflow/definition.ts';
import { dynamoDbAt } from '../../../local/test/fixture.ts';
import {
  AwsError,
  createCallLog,
  createIntegrations,
  createStepFunctions,
  type Integration,
  type InvokeResult,
  type StateMachineSpec,
  StatesError,
} from '../../../local/testing.ts';
import { type Referee, region } from '../referee.ts';

export const args = '{"n":9007199254740993}';
const answered = (payload: string): InvokeResult => ({ statusCode: 200, payload, executedVersion: '$LATEST' });
/** The answer of a function with this result: an envelope, which keeps its digits. */
export function returned(text: string, waits?: object): InvokeResult {
  const { isError, inputRequests } = (JSON.parse(text) ?? {}) as Record<string, unknown>;
  const asks = inputRequests !== undefined;
  return answered(JSON.stringify({ mcpTask: 1, text, isError: isError === true, asks, waits }));
}
export const thrown = (errorType: string): InvokeResult => ({
  ...answered(JSON.stringify({ errorType, errorMessage: 'secret' })),
  functionError: 'Unhandled',
});

/** Rounds of tasks, run by the embedded Step Functions: the tool is ours, its workflow writes to this DynamoDB. */
export function runsOn(referee: () => Referee) {
  /** Runs the round of this record; `meanwhile` is what happens while the tool works. */
  async function run(
    record: TaskRecord,
    result: InvokeResult | AwsError,
    meanwhile = async (): Promise<unknown> => undefined,
    timeScale = 1,
  ) {
    const { machines } = referee();
    const machine = machines.find(({ name }) => name.endsWith('standard'));
    if (machine === undefined) throw new Error('the stack has no tool workflow');
    const invoke = async () => {
      await meanwhile();
      if (result instanceof AwsError) throw result;
      return result;
    };
    return execute(machine, record, integrationsWith(invoke), timeScale);
  }

  /** Runs the round of a tool that is a state machine, whose execution has this end. */
  async function runMachine(record: TaskRecord, outcome: object) {
    const names: Readonly<Record<string, string>> = {
      TableName: referee().table,
      StateMachines: `{'${record.tool}': 'm'}`,
    };
    const text = definition('machine').replace(/\$\{(\w+)\}/g, (_, name: string) => names[name] ?? name);
    const arn = `arn:aws:states:${region}:123456789012:stateMachine:tool`;
    const startExecution = async () => {
      if (outcome instanceof StatesError) throw outcome;
      return outcome;
    };
    return execute({ arn, name: 'tool', roleArn: 'r', definition: text }, record, {
      ...integrationsWith(async () => returned('null')),
      'arn:aws:states:::states:startExecution.sync': startExecution,
    });
  }

  const integrationsWith = (invoke: () => Promise<InvokeResult>) =>
    createIntegrations({
      ...{ lambda: { invoke }, endpoint: referee().endpoint, region, calls: createCallLog(0), now: Date.now },
      send: dynamoDbAt(referee().endpoint),
      accessKeyOfRole: () => 'local',
      closed: async () => undefined,
    });

  async function execute(
    machine: StateMachineSpec,
    record: TaskRecord,
    integrations: Record<string, Integration>,
    timeScale = 1,
  ) {
    const engine = createStepFunctions([machine], { timeScale, integrations });
    onTestFinished(() => engine.stop());
    const name = executionName(record.taskId, record.round);
    await engine.operations.StartExecution?.({ stateMachineArn: machine.arn, name, input: roundInput(record, args) });
    const executionArn = engine.executions()[0]?.arn ?? '';
    await engine.closed(executionArn);
    const described = (await engine.operations.DescribeExecution?.({ executionArn })) as { status: string };
    return { ...described, states: engine.executions()[0]?.states ?? [] };
  }

  return { run, runMachine };
}
