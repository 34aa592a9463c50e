import type { ToolEvent } from '../../tasks/tool-contract.ts';

/** A call that a state of the machine made. */
export interface MachineCall {
  /** The name of the state. */
  readonly state: string;
  /** @example 'arn:aws:states:::lambda:invoke' */
  readonly resource: string;
  /** The Arguments of the state, evaluated. */
  readonly arguments: unknown;
}

/** What a task answers: the value of `$states.result`, or a function of the call. A function may throw. */
export type MachineMock = ((call: MachineCall) => unknown) | { readonly [field: string]: unknown } | null;

export interface RunMachineOptions {
  /**
   * What each task answers, by the name of its state: what the service would return, e.g. `{ Payload }` for `lambda:invoke`.
   * For a task with `.waitForTaskToken`, the output that `SendTaskSuccess` sends. To fail a task, throw an error: its `name`
   * is the name that Retry and Catch see. @default none: a call without a mock fails the test
   * @example { 'Report on one': ({ arguments: args }) => ({ Payload: { rows: 3 } }) }
   */
  readonly mocks?: Readonly<Record<string, MachineMock>>;
  /** When the execution starts. @default now @example new Date('2026-07-01T22:00:00Z') */
  readonly startsAt?: Date;
}

export interface MachineRan {
  /** The output of the machine: the result of the tool. Undefined if it failed. */
  readonly result?: unknown;
  /** The error that the execution failed with. The client sees its name. */
  readonly failure?: { readonly error: string; readonly cause: string };
  /** The names of the states, in the order in which they were entered. They are the status messages of the task. */
  readonly states: readonly string[];
  /** The calls that were mocked, in order. */
  readonly calls: readonly MachineCall[];
  /** When the execution ended, with all waits and retry delays. */
  readonly endedAt: Date;
}

/**
 * Runs a state machine that is a tool, with mocked tasks, in memory and without a cloud. Waits and retry delays take no time.
 * It needs the package `mcp-task-server-local`, whose Step Functions it uses.
 *
 * @param definition the definition in the Amazon States Language, with JSONata, as an object or as JSON text
 * @param event the event of the tool; what is missing has the values of a task in its first round
 * @throws Error if a task has no mock, or the embedded Step Functions does not know the definition
 *
 * @example
 * const definition = readFileSync('functions/nightly-report.asl.json', 'utf8');
 * const mocks = { 'Report on one': ({ arguments: { Payload } }) => ({ Payload: { rows: Payload.customer.length } }) };
 * const { result, states } = await runMachineTool(definition, { arguments: { customers: ['a', 'b'] } }, { mocks });
 */
export async function runMachineTool(
  definition: string | object,
  event: Partial<ToolEvent> = {},
  { mocks = {}, startsAt = new Date() }: RunMachineOptions = {},
): Promise<MachineRan> {
  const { runMachine } = await localPackage();
  const now = startsAt.getTime();
  const calls: MachineCall[] = [];
  const missing: MachineCall[] = [];
  const answer = (call: MachineCall): unknown => {
    calls.push(call);
    if (!Object.hasOwn(mocks, call.state)) {
      missing.push(call);
      throw new MockMissing(call);
    }
    const mock = mocks[call.state];
    return typeof mock === 'function' ? mock(call) : mock;
  };
  const parsed: object = typeof definition === 'string' ? JSON.parse(definition) : definition;
  const { output, failure, states, endedAt } = await runMachine(parsed, eventOf(event, now), { answer, now });
  // A Catch of the machine may have taken the error.
  if (missing[0] !== undefined) throw new MockMissing(missing[0]);
  const ended = failure === undefined ? { result: output } : { failure };
  return { ...ended, states, calls, endedAt: new Date(endedAt) };
}

class MockMissing extends Error {
  constructor({ state, resource }: MachineCall) {
    super(`The state '${state}' calls ${resource}, and the test has no mock for it`);
    this.name = 'MockMissing';
  }
}

/** The longest time of a task of a function, by default. */
const DEFAULT_TIMEOUT_MS = 15 * 60_000;

function eventOf(event: Partial<ToolEvent>, now: number): ToolEvent {
  const task = { taskId: 'test', owner: 'test', table: 'test', results: 'test', round: 1, attempt: 0 };
  return {
    name: 'test',
    arguments: {},
    accepts: [],
    inputResponses: {},
    requestState: null,
    ...event,
    task: { ...task, deadline: now + DEFAULT_TIMEOUT_MS, ...event.task },
  };
}

async function localPackage() {
  try {
    return await import('mcp-task-server-local/machine');
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Error('runMachineTool uses another package: npm install --save-dev mcp-task-server-local');
  }
}
