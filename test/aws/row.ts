import type { TestExecutionStatus, TestStateInput } from '@aws-sdk/client-sfn';
import { definition } from '../../lib/workflow/definition.ts';

/** What runs: a function, one that may be repeated, a state machine. */
export type Workflow = 'tool' | 'repeatable' | 'machine';

/** One line of the table: a state, its input, the answer of its integration, and the result. */
export interface Row {
  readonly title: string;
  readonly workflow: Workflow;
  readonly state: string;
  /** The input of the state. @default the input of the execution */
  readonly input?: unknown;
  /** The mocked answer of the integration; absent for a state other than a task. */
  readonly result?: unknown;
  readonly error?: string;
  readonly cause?: string;
  /** The errors of earlier attempts, if they differ from this one. @default none */
  readonly earlier?: readonly string[];
  /** How many attempts there were before. @default as many as in `earlier` */
  readonly retries?: number;
  /** How many of them were taken by the retrier of this error. @default all */
  readonly retrierRetryCount?: number;
  /** More input of the execution, beside `execution`. */
  readonly more?: object;
  readonly expected: Expected;
}

export interface Expected {
  readonly status: TestExecutionStatus;
  readonly error?: string;
  readonly nextState?: string;
  /** Which retrier, which catcher took the error. */
  readonly retryIndex?: number;
  readonly catchIndex?: number;
  /** Output, and Arguments as sent: with a change of the record decoded (`change.ts`), matched by vitest's `toEqual`. */
  readonly output?: unknown;
  readonly sent?: unknown;
}

const ACCOUNT = 'us-east-1:123456789012';
const SUBSTITUTIONS: Readonly<Record<string, string>> = {
  Functions: `{'x': 'arn:aws:lambda:${ACCOUNT}:function:tool'}`,
  OutcomeFunctionArn: `arn:aws:lambda:${ACCOUNT}:function:outcomes`,
  StateMachines: `{'x': 'arn:aws:states:${ACCOUNT}:stateMachine:author'}`,
  TableName: 'tasks',
  ResultsBucket: 'results',
};

const filled = (text: string, RepeatableTools = '[]') =>
  text.replace(/\$\{(\w+)\}/g, (_, name: string) => ({ ...SUBSTITUTIONS, RepeatableTools })[name] ?? '?');

/** The very definitions that are deployed, with the names of a stack filled in. */
export const definitions: Readonly<Record<Workflow, string>> = {
  tool: filled(definition('standard')),
  repeatable: filled(definition('standard'), "['x']"),
  machine: filled(definition('machine')),
};

/** It has the states of `repeatable`, with other times. */
export const expressDefinition = filled(definition('express'));

/** The input of every execution of the table. */
export const execution = {
  owner: 'o',
  taskId: 't',
  tool: 'x',
  round: 2,
  deadlineAt: Date.now() + 3_600_000,
  arguments: '{"n":9007199254740991}',
  accepts: ['elicitation/create'],
  inputResponses: { a: { action: 'accept' } },
  requestState: null,
};

/** The row as a request to `TestState`. */
export function requestOf(row: Row): TestStateInput {
  const { workflow, state, input = execution, result, error, cause, earlier = [] } = row;
  const { retries = earlier.length, retrierRetryCount = retries } = row;
  const request = { definition: definitions[workflow], stateName: state, input: JSON.stringify(input) };
  if (result === undefined && error === undefined) return { ...request, inspectionLevel: 'DEBUG' };
  const errorOutput = error === undefined ? undefined : { error, cause: cause ?? 'A mocked cause.' };
  return {
    ...request,
    inspectionLevel: 'DEBUG',
    context: JSON.stringify(contextOf(state, retries, { ...execution, ...row.more })),
    mock: errorOutput === undefined ? { result: JSON.stringify(result) } : { errorOutput },
    // The count matters for an error only.
    ...(retrierRetryCount > 0 && row.expected.status !== 'SUCCEEDED' && { stateConfiguration: { retrierRetryCount } }),
  };
}

function contextOf(state: string, RetryCount: number, Input: object): unknown {
  const at = new Date(execution.deadlineAt - 3_600_000).toISOString();
  return {
    Execution: {
      Id: `arn:aws:states:${ACCOUNT}:execution:tested:t-r2`,
      Input,
      Name: 't-r2',
      RoleArn: 'arn:aws:iam::123456789012:role/tested',
      StartTime: at,
    },
    State: { EnteredTime: at, Name: state, RetryCount },
    StateMachine: { Id: `arn:aws:states:${ACCOUNT}:stateMachine:tested`, Name: 'tested' },
  };
}
