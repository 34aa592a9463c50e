import type { TestStateInput, TestStateOutput } from '@aws-sdk/client-sfn';
import { createStepFunctions, type IntegrationCall, StatesError } from '../../local/testing.ts';
import { checkRequest } from './request-rules.ts';

/** The value in place of a retrier's index. */
const NOBODY = -1;

/**
 * Answers like `TestState` (inspection level DEBUG), by the embedded Step Functions: it runs a machine with this state,
 * mocked, whose neighbours do nothing. For attempt n the state is tried n times: `earlier` has the errors of the attempts
 * before; without it, they end as the mock says.
 */
export async function testStateLocally(
  request: TestStateInput,
  earlier: readonly string[] = [],
): Promise<TestStateOutput> {
  checkRequest(request);
  const { definition = '', stateName = '', context, stateConfiguration } = request;
  const retries: number = JSON.parse(context ?? '{}').State?.RetryCount ?? 0;
  const { Retry = [] }: { Retry?: unknown[] } = JSON.parse(definition).States[stateName];
  // With the first retrier only, with the first two…: an error is retried from the retrier on that takes it.
  const runs = await Promise.all(Array.from({ length: Retry.length + 1 }, (_, count) => run(request, earlier, count)));
  const takenBy = (attempt: number) => {
    const count = runs.findIndex(({ sent }) => sent.length > attempt + 1);
    return count === -1 ? NOBODY : count - 1;
  };

  const { end, sent } = runs.at(-1) ?? raise('there are no runs');
  const before = Array.from({ length: retries }, (_, attempt) => takenBy(attempt));
  if (before.includes(NOBODY)) raise(`the state is over before its retry number ${retries}`);
  const now = takenBy(retries);
  checkCount(before, now, stateConfiguration?.retrierRetryCount ?? 0);
  const afterArguments = sent.length === 0 ? {} : { afterArguments: JSON.stringify(sent[retries]) };
  if (now === NOBODY) return { ...end, inspectionData: { ...end.inspectionData, ...afterArguments } };
  const inspectionData = { ...afterArguments, errorDetails: { retryIndex: now } };
  return { status: 'RETRIABLE', error: errorOf(request, now), inspectionData };
}

/** AWS takes the count from the row: of the retrier that takes this error, or would if it had retries left. */
function checkCount(before: readonly number[], now: number, said: number): void {
  const retriers = now === NOBODY ? before : [now];
  const counts = retriers.map((one) => before.filter((other) => other === one).length);
  if (said > 0 && !counts.includes(said)) raise(`retrierRetryCount is ${said}, and was ${counts.join(' or ')}`);
  if (said === 0 && now !== NOBODY && counts[0] !== 0) raise(`retrierRetryCount is left out, and was ${counts[0]}`);
}

interface Run {
  /** The outcome of the wanted attempt; none if a retry follows. */
  readonly end: TestStateOutput;
  /** The arguments of every attempt, up to the one after it. */
  readonly sent: readonly unknown[];
}

const arn = 'arn:aws:states:us-east-1:123456789012:stateMachine:tested';

async function run(request: TestStateInput, earlier: readonly string[], retriers: number): Promise<Run> {
  const { definition = '', stateName = '', input = '{}', mock = {} } = request;
  const { Execution, State } = JSON.parse(request.context ?? '{"Execution":{"Input":{},"Name":"n"},"State":{}}');
  const sent: unknown[] = [];
  const answer = async (call: IntegrationCall) => {
    const error = sent.length < State.RetryCount ? earlier[sent.length] : undefined;
    sent.push(call.arguments);
    if (sent.length > State.RetryCount + 1) throw new StatesError('States.Runtime', 'one attempt too many');
    if (error !== undefined) throw new StatesError(error);
    if (mock.errorOutput) throw new StatesError(mock.errorOutput.error ?? '', mock.errorOutput.cause);
    return JSON.parse(mock.result ?? '');
  };
  const machine = alone(JSON.parse(definition), stateName, JSON.parse(input), retriers);
  const { Resource }: { Resource?: string } = machine.States[stateName] ?? {};
  const engine = createStepFunctions([{ arn, name: 'tested', roleArn: 'r', definition: JSON.stringify(machine) }], {
    timeScale: 100,
    integrations: Resource === undefined ? {} : { [Resource]: answer },
  });
  const start = { stateMachineArn: arn, name: Execution.Name, input: JSON.stringify(Execution.Input) };
  await engine.operations.StartExecution?.(start);
  const executionArn = engine.executions()[0]?.arn ?? '';
  await engine.closed(executionArn);
  const described = (await engine.operations.DescribeExecution?.({ executionArn })) as Described;
  const states = engine.executions()[0]?.states ?? [];
  await engine.stop();
  return { end: ended(described, states.at(-1), stateName), sent };
}

interface Asl {
  States: Record<string, AslState>;
  [field: string]: unknown;
}
interface AslState {
  readonly Type: string;
  readonly Resource?: string;
  readonly Next?: string;
  readonly Default?: string;
  readonly Choices?: readonly { readonly Next: string }[];
  readonly Retry?: readonly { ErrorEquals: string[]; MaxAttempts?: number }[];
  readonly Catch?: readonly { Next: string }[];
  readonly Output?: unknown;
}

const CAUGHT = 'caught by ';

/** The machine with this one state, its first retriers, no delays; where it goes from there, and by which catcher. */
function alone({ States, ...machine }: Asl, name: string, input: unknown, retriers: number): Asl {
  const { Retry = [], Catch = [], ...state } = States[name] ?? raise(`there is no state ${name}`);
  const undelayed = Retry.slice(0, retriers).map(({ ErrorEquals, MaxAttempts }) => ({
    ...{ ErrorEquals, BackoffRate: 1 },
    ...(MaxAttempts !== undefined && { MaxAttempts }),
  }));
  const traced = Catch.map((catcher, index) => ({
    ...catcher,
    Assign: { caught: '{% $states.errorOutput %}' },
    Next: CAUGHT + index,
  }));
  const tested = {
    ...state,
    ...(undelayed.length > 0 && { Retry: undelayed }),
    ...(traced.length > 0 && { Catch: traced }),
  };
  const after = Catch.map(({ Next }, index) => [
    CAUGHT + index,
    { Type: 'Succeed', Output: { next: Next, error: '{% $caught %}', output: '{% $states.input %}' } },
  ]);
  const { Next, Default, Choices = [] } = state;
  const targets = [Next, Default, ...Choices.map((rule) => rule.Next)].filter((target) => target !== undefined);
  const next = Object.fromEntries(targets.map((target) => [target, { Type: 'Succeed' }]));
  const enter = { 'before it': { Type: 'Pass', Output: input, Next: name } };
  return {
    ...{ ...machine, StartAt: 'before it' },
    States: { ...enter, ...next, [name]: tested, ...Object.fromEntries(after) },
  };
}

interface Described {
  readonly status: string;
  readonly output?: string;
  readonly error?: string;
  readonly cause?: string;
}

function ended(
  { status, output = '', error, cause }: Described,
  last: string | undefined,
  stateName: string,
): TestStateOutput {
  if (status !== 'SUCCEEDED') return { status: 'FAILED', error, cause };
  if (last === stateName) return { status: 'SUCCEEDED', output };
  if (!last?.startsWith(CAUGHT)) return { status: 'SUCCEEDED', output, nextState: last };
  const caught = JSON.parse(output);
  return {
    status: 'CAUGHT_ERROR',
    output: JSON.stringify(caught.output),
    error: caught.error.Error,
    cause: caught.error.Cause,
    nextState: caught.next,
    inspectionData: { errorDetails: { catchIndex: Number(last.slice(CAUGHT.length)) } },
  };
}

/** Errors without a mock are matched by their names: no row needs a retrier for States.ALL there. */
function errorOf({ definition = '', stateName = '', mock }: TestStateInput, retrier: number): string | undefined {
  const names: string[] = JSON.parse(definition).States[stateName].Retry[retrier].ErrorEquals;
  return mock?.errorOutput?.error ?? (names.length === 1 ? names[0] : undefined);
}

function raise(message: string): never {
  throw new Error(message);
}
