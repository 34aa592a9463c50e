import type { TestStateInput } from '@aws-sdk/client-sfn';

/**
 * What `TestState` answers with a ValidationException (API reference of 2025-11-19, and what AWS was recorded to say),
 * so that a row it would refuse fails without an account, too.
 */
export function checkRequest({ definition = '', stateName = '', mock, context, revealSecrets }: TestStateInput): void {
  const state = JSON.parse(definition).States[stateName];
  const refuse = (message: string): never => {
    throw new Error(`TestState would refuse this: ${message}`);
  };
  if (state === undefined) refuse(`there is no state '${stateName}'`);
  if (mock === undefined) {
    if (context !== undefined) refuse('a context needs a mock');
    if (state.Type === 'Task') refuse('a task without a mock needs a role');
    return;
  }
  if (state.Type !== 'Task') refuse(`State type '${state.Type}' is not supported when a mock is specified`);
  if (revealSecrets) refuse('RevealSecrets is not supported when a mock is specified');
  const { result, errorOutput } = mock;
  if ((result === undefined) === (errorOutput === undefined)) refuse('a mock has a result or an errorOutput');
  if (context !== undefined) checkContext(JSON.parse(context), refuse);
  if (result === undefined) return;
  if (result.length > 262_144) refuse('a mocked result has at most 262144 characters');
  const members = JSON.parse(result);
  const missing = (REQUIRED[state.Resource] ?? []).find((name) => typeof members[name] !== 'string');
  if (missing !== undefined) refuse(`Required field '${missing}' is missing`);
}

/** Members that the service's model requires; a timestamp is text in a mock. */
const EXECUTION = ['ExecutionArn', 'StateMachineArn', 'Status', 'StartDate'];
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  'arn:aws:states:::states:startExecution.sync': EXECUTION,
  'arn:aws:states:::aws-sdk:sfn:describeExecution': EXECUTION,
};

const CONTEXT: Readonly<Record<string, readonly string[]>> = {
  Execution: ['Id', 'Input', 'Name', 'RoleArn', 'StartTime'],
  State: ['EnteredTime', 'Name', 'RetryCount'],
  StateMachine: ['Id', 'Name'],
};

function checkContext(context: Record<string, object>, refuse: (message: string) => never): void {
  for (const [part, fields] of Object.entries(context)) {
    const known = CONTEXT[part] ?? refuse(`the context has no ${part} here`);
    const other = Object.keys(fields).find((field) => !known.includes(field));
    if (other !== undefined) refuse(`Field '${other}' is not allowed`);
  }
}
