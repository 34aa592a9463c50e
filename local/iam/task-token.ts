/** The tokens of tasks that wait: text that names an execution and one attempt of a task. */

const TOKEN = /^(arn:[^:]+:states:[^:]+:\d{12}:execution:[^:]+:\S+) [0-9a-f-]{36}$/;

/** The token of one attempt of a task. @param id that only this attempt has */
export const tokenOf = (executionArn: string, id: string): string =>
  Buffer.from(`${executionArn} ${id}`).toString('base64url');

/** The execution whose task a token names; undefined if Step Functions did not make the token. */
export const executionOfToken = (token: string): string | undefined =>
  TOKEN.exec(Buffer.from(token, 'base64url').toString())?.[1];

/** The machine whose task a token names. */
export const machineOfToken = (token: string): string | undefined =>
  executionOfToken(token)?.replace(/:execution:([^:]+):.*$/, ':stateMachine:$1');
