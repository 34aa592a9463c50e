import { AwsError } from '../../aws-error.ts';
import type { JsonObject as Request } from '../../json.ts';
import { PAYLOAD_LIMIT } from '../payload.ts';

// Excludes white space, brackets, wildcards, special and control characters, lone surrogates.
const EXECUTION_NAME = /^[^\s<>{}[\]?*"#%\\^|~`$&,;:/\p{Cc}\p{Cs}]{1,80}$/u;
const STATES_ARN = /^arn:aws[a-z-]*:states:[^:]+:\d{12}:(\w+):\S+$/;

export function optionalText(request: Request, name: string): string | undefined {
  const value = request[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw new AwsError('ValidationException', `The value at '${name}' must be a string`);
  return value;
}

export function arnOf(request: Request, name: string, kind: 'execution' | 'stateMachine'): string {
  const arn = optionalText(request, name);
  if (arn === undefined) throw new AwsError('ValidationException', `The value at '${name}' must not be null`);
  const type = STATES_ARN.exec(arn)?.[1];
  if (type !== undefined && type !== kind) {
    // This also refuses an Express execution, which can be neither described nor stopped.
    throw new AwsError('InvalidArn', `Invalid Arn: 'Resource type not valid in this context: ${type}'`);
  }
  if (type === undefined) throw new AwsError('InvalidArn', `Invalid Arn: '${arn}'`);
  return arn;
}

export function executionName(request: Request): string | undefined {
  const name = optionalText(request, 'name');
  if (name !== undefined && !EXECUTION_NAME.test(name)) throw new AwsError('InvalidName', `Invalid Name: '${name}'`);
  return name;
}

/** The execution input as sent: JSON text within the payload limit. */
export function executionInput(request: Request): string {
  const input = optionalText(request, 'input') ?? '{}';
  if (Buffer.byteLength(input) > PAYLOAD_LIMIT) {
    throw new AwsError('InvalidExecutionInput', `Invalid execution input: more than ${PAYLOAD_LIMIT} bytes`);
  }
  try {
    JSON.parse(input);
  } catch (thrown) {
    throw new AwsError('InvalidExecutionInput', `Invalid execution input: ${(thrown as Error).message}`);
  }
  return input;
}

/** One page of a list. The token is the last returned number, so executions may start and close between pages. */
export function page<T>(request: Request, items: T[], numberOf: (item: T) => number, newestFirst: boolean) {
  const token = pageToken(request);
  const isLeft = (item: T) => token === undefined || (newestFirst ? numberOf(item) < token : numberOf(item) > token);
  const left = items.filter(isLeft);
  const taken = left.slice(0, pageSize(request));
  const last = taken.at(-1);
  if (last === undefined || taken.length === left.length) return { items: taken };
  return { items: taken, nextToken: String(numberOf(last)) };
}

function pageToken(request: Request): number | undefined {
  const token = optionalText(request, 'nextToken');
  if (token === undefined) return undefined;
  if (!/^\d+$/.test(token)) throw new AwsError('InvalidToken', `Invalid Token: '${token}'`);
  return Number(token);
}

function pageSize(request: Request): number {
  const size = request.maxResults ?? 0;
  if (Number.isInteger(size) && Number(size) >= 0 && Number(size) <= 1000) return Number(size) || 100;
  throw new AwsError('ValidationException', `The value at 'maxResults' must be an integer from 0 to 1000`);
}
