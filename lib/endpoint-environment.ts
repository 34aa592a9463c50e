import { type CfnElement, Resource, Stack, Token, Tokenization } from 'aws-cdk-lib';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';

/**
 * The largest environment of a function, in bytes: "4 KB, for all environment variables associated with the function,
 * in aggregate" (Lambda quotas). Lambda measures the JSON text of names and values, and quotes it in its refusal.
 */
const MOST = 4_096;

// The greatest lengths of values that only the deployment knows.
const FUNCTION_NAME = 64;
const FUNCTION_ARN = 140;
const MACHINE_NAME = 80;
const STACK_NAME = 128;
/** `arn:partition:service:region:account:kind:` */
const ARN_PREFIX = 70;
/** `https://sqs.region.suffix/account/` */
const QUEUE_URL = 70;
/** Milliseconds of a year have eleven digits. */
const NUMBER = 11;
/** Characters that CloudFormation adds to the names of stack and resource, and Secrets Manager to an ARN. */
const SUFFIX = 22;

/** One entry of a list in the environment, and its greatest length. */
export interface Listed {
  readonly text: string;
  readonly most: number;
}

/** The constructs that the other variables of the endpoint name. */
export interface Named {
  readonly table: Construct;
  readonly results: Construct;
  readonly signingKey: Construct;
  readonly machinePrefix: string;
  readonly events: { readonly queue: Construct } | undefined;
}

/** The name of a function, which is half as long as its ARN; the ARN if the name does not identify the function. */
export function invocable(handler: IFunction, endpoint: IFunction): Listed {
  const { env, functionArn, functionName } = handler;
  const near = env.account === endpoint.env.account && env.region === endpoint.env.region;
  // The name of an imported version or alias does not hold the version.
  if (!near || !Resource.isOwnedResource(handler)) {
    return { text: functionArn, most: Token.isUnresolved(functionArn) ? FUNCTION_ARN : functionArn.length };
  }
  // A name may end in a version or an alias.
  const longest = Tokenization.reverseString(functionName)
    .mapTokens({ mapToken: () => 'x'.repeat(FUNCTION_NAME) })
    .join({ join: (left, right) => `${left ?? ''}${right ?? ''}` });
  return { text: functionName, most: longest.length };
}

/** The entry of a state machine: its name. */
export function listedMachine(name: string): Listed {
  return { text: name, most: Token.isUnresolved(name) ? MACHINE_NAME : name.length };
}

export const joined = (list: readonly Listed[]): string => list.map(({ text }) => text).join(',');

/**
 * Throws, with the tool's name and the sum, if the environment of the endpoint may be too large.
 *
 * @param functions functions of tools that never run as a task
 * @param machines the state machines that are tools
 */
export function checkEnvironment(
  tool: string,
  functions: readonly Listed[],
  machines: readonly Listed[],
  { table, results, signingKey, machinePrefix, events }: Named,
): void {
  const lengths = {
    TASKS_TABLE: nameLength(table),
    RESULTS_BUCKET: nameLength(results),
    SIGNING_KEY_SECRET: ARN_PREFIX + nameLength(signingKey),
    MACHINE_ARN_PREFIX: ARN_PREFIX + machinePrefix.length,
    ...(events && { EVENTS_QUEUE_URL: QUEUE_URL + nameLength(events.queue), EVENTS_KEPT: NUMBER }),
    TOOL_FUNCTIONS: listLength(functions),
    TOOL_MACHINES: listLength(machines),
  };
  const variables = Object.entries(lengths).map(([name, length]) => [name, 'x'.repeat(length)]);
  const sum = JSON.stringify(Object.fromEntries(variables)).length;
  if (sum <= MOST) return;
  const { TOOL_FUNCTIONS, TOOL_MACHINES } = lengths;
  throw new Error(
    `Tool '${tool}': the environment of the endpoint takes up to ${sum} bytes, and Lambda takes ${MOST}. ` +
      `${functions.length} functions of forbidden tools take ${TOOL_FUNCTIONS}, ${machines.length} state machines ` +
      `${TOOL_MACHINES}, the rest ${sum - TOOL_FUNCTIONS - TOOL_MACHINES}. Let tools share a function or a state ` +
      'machine, or make functions in the account and region of the server: those are listed by name, others by ARN',
  );
}

const listLength = (list: readonly Listed[]): number =>
  list.reduce((sum, { most }) => sum + most, Math.max(0, list.length - 1));

/** The length of a name that CloudFormation makes from stack and logical id. */
function nameLength({ node }: Construct): number {
  const element = node.defaultChild as CfnElement;
  const { stackName } = Stack.of(element);
  const logicalId = String(element.stack.resolve(element.logicalId));
  return (Token.isUnresolved(stackName) ? STACK_NAME : stackName.length) + logicalId.length + SUFFIX;
}
