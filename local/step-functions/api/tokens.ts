import { AwsError } from '../../aws-error.ts';
import { executionOfToken } from '../../iam/task-token.ts';
import type { JsonObject as Request } from '../../json.ts';
import type { Answer } from '../journal/records.ts';
import type { Tokens, Waiting } from '../tokens/tokens.ts';
import type { Operation } from '../types.ts';
import { optionalText } from './request.ts';

// The bounds of the API references of SendTaskSuccess, SendTaskFailure and SendTaskHeartbeat.
const LONGEST = { taskToken: 2_048, output: 262_144, error: 256, cause: 32_768 } as const;

/**
 * The operations with which a client answers for a task.
 *
 * @param caughtUp resolves once an execution waits for all that it waited for when the last process ended; undefined for an
 * execution that does not exist
 */
export function tokenOperations(
  tokens: Tokens,
  caughtUp: (executionArn: string) => Promise<void> | undefined,
): Record<string, Operation> {
  const find = async (request: Request): Promise<Waiting> => {
    const token = text(request, 'taskToken');
    if (!token) throw new AwsError('ValidationException', `The value at 'taskToken' must not be null`);
    const execution = executionOfToken(token);
    if (execution === undefined) throw new AwsError('InvalidToken', `Invalid Token: 'Invalid token'`);
    const begun = caughtUp(execution);
    if (begun === undefined) throw new AwsError('TaskDoesNotExist', `Task does not exist: '${execution}'`);
    await begun;
    return tokens.get(token) ?? gone();
  };
  const answer = async (request: Request, given: Answer) => {
    await (await find(request)).answer(given).catch(gone);
    return {};
  };
  return {
    SendTaskSuccess: async (request) => answer(request, { result: outputOf(request) }),
    SendTaskFailure: async (request) =>
      answer(request, { error: text(request, 'error') ?? '', cause: text(request, 'cause') ?? '' }),
    SendTaskHeartbeat: async (request) => {
      if (!(await find(request)).beat()) gone();
      return {};
    },
  };
}

function gone(): never {
  throw new AwsError('TaskTimedOut', `Task Timed Out: 'Provided task does not exist anymore'`);
}

function outputOf(request: Request): unknown {
  const output = text(request, 'output');
  if (output === undefined) throw new AwsError('ValidationException', `The value at 'output' must not be null`);
  try {
    return JSON.parse(output);
  } catch (thrown) {
    throw new AwsError('InvalidOutput', `Invalid Output: '${(thrown as Error).message}'`);
  }
}

function text(request: Request, name: keyof typeof LONGEST): string | undefined {
  const value = optionalText(request, name);
  if (value === undefined || Buffer.byteLength(value) <= LONGEST[name]) return value;
  const bound = `Member must have length less than or equal to ${LONGEST[name]}`;
  throw new AwsError(
    'ValidationException',
    `1 validation error detected: Value at '${name}' failed to satisfy constraint: ${bound}`,
  );
}
