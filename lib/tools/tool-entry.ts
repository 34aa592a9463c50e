import { createHash } from 'node:crypto';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { TaskSupport, ToolEntry } from '../../functions/mcp/manifest.ts';
import { ENGINES } from '../../functions/tasks/engines.ts';
import { questionsProblem } from '../../functions/tasks/questions/question.ts';
import { checkScopes } from '../auth/auth.ts';
import { engineOf } from './engine.ts';
import { paramHeaders } from './param-headers.ts';
import type { FunctionToolProps, StateMachineToolProps, ToolProps } from './tool-props.ts';

const NAME = /^[A-Za-z0-9_.-]{1,64}$/;
/** The tools of the server itself. */
const HELPERS = ['get_task_result', 'cancel_task'];
/** How long the endpoint waits for a function that it invokes, in milliseconds. Its own timeout is longer. */
const DIRECT = 50_000;
const LAMBDA = 900_000;
const HOUR = 3_600_000;
/** CloudFormation takes 500 resources in a stack, and a tool with a `ToolFunction` has four (docs/limits.md). */
const MAX_TOOLS = 100;
/** They are in a variable of `TaskEvents`, whose environment takes 4 KB. */
const SUMMARIES = 2_500;

type Refuse = (problem: string) => never;

/** All options. Others are rejected: TypeScript does not catch a misspelt one in a JavaScript app. */
const OPTIONS = {
  handler: true,
  stateMachine: true,
  taskSupport: true,
  engine: true,
  description: true,
  title: true,
  inputSchema: true,
  outputSchema: true,
  annotations: true,
  timeout: true,
  pollInterval: true,
  expectedDuration: true,
  ttl: true,
  askFirst: true,
  scopes: true,
  immediateResponse: true,
  keepArguments: true,
  eventSummary: true,
  files: true,
} satisfies Record<keyof FunctionToolProps | keyof StateMachineToolProps, true>;

/** Refuses a name that no tool may have, or that another tool has. */
export function checkName(name: string, taken: readonly ToolEntry[]): void {
  const refuse = refusalOf(name);
  if (!NAME.test(name)) refuse('a name is 1 to 64 characters of A-Z a-z 0-9 _ - .');
  if (HELPERS.includes(name) || name === '__proto__') refuse('this name is taken by the server itself');
  if (taken.some((tool) => tool.name === name)) refuse('registered twice');
}

const refusalOf =
  (name: string): Refuse =>
  (problem) => {
    throw new Error(`Tool '${name}': ${problem}`);
  };

/** Makes the entry of a tool in the endpoint. Throws an error with the tool's name and the remedy (A-18, B-13). */
export function toolEntry(name: string, props: ToolProps, taken: readonly ToolEntry[], maxTtl: number): ToolEntry {
  const refuse: Refuse = refusalOf(name);
  checkName(name, taken);
  if (taken.length === MAX_TOOLS) {
    refuse(
      `a server has at most ${MAX_TOOLS} tools, and this is one more: put it into a second server, in a stack of its own`,
    );
  }
  const unknown = Object.keys(props).find((option) => !Object.hasOwn(OPTIONS, option));
  if (unknown !== undefined) refuse(`it has no option '${unknown}', only ${Object.keys(OPTIONS).join(', ')}`);
  if (props.description.trim() === '') refuse('give it a description: the model chooses tools by it');
  if (props.inputSchema.type !== 'object') refuse(`inputSchema.type must be 'object'`);
  const taskSupport = taskSupportOf(props, refuse);
  if (props.handler !== undefined && (props.handler as Partial<IFunction>).functionArn === undefined) {
    refuse('its handler is not a Lambda function: give it a ToolFunction, or any other lambda.IFunction');
  }
  const engine = engineOf(props, { ...props, taskSupport }, refuse);
  const direct = taskSupport === 'forbidden';
  const timeout = timeoutOf(props, direct, maxTtl, refuse);
  const pollInterval = props.pollInterval?.toMilliseconds();
  if (pollInterval !== undefined && pollInterval < 100) refuse('a pollInterval is at least 100 milliseconds');
  const expectedDuration = props.expectedDuration?.toMilliseconds();
  if (expectedDuration !== undefined && expectedDuration <= 0) refuse('an expectedDuration is above 0');
  const ttl = props.ttl?.toMilliseconds() ?? longTtl(timeout, maxTtl);
  if (ttl !== undefined && (ttl < 1_000 || ttl > maxTtl))
    refuse('a ttl lies between 1 second and the maxTtl of the server');
  if (props.files === true && direct) refuse('files needs a tool that may run as a task: set taskSupport');
  if (props.files === true && props.stateMachine !== undefined) refuse('a state machine has no files');
  if (props.eventSummary === true) {
    if (direct) refuse('eventSummary needs a tool that may run as a task: set taskSupport');
    const names = [...taken.filter(({ eventSummary }) => eventSummary).map((tool) => tool.name), name].join(',');
    if (names.length > SUMMARIES)
      refuse(`the names of all tools with eventSummary take ${SUMMARIES} characters at most`);
  }
  if (props.askFirst !== undefined && direct) refuse('askFirst needs a tool that may run as a task');
  const askProblem = props.askFirst && questionsProblem(props.askFirst);
  if (askProblem !== undefined) refuse(`askFirst: ${askProblem}`);
  if (props.scopes !== undefined) checkScopes(`Tool '${name}': scopes`, props.scopes);
  const headers = paramHeaders(props.inputSchema, refuse);
  return {
    name,
    ...(props.title !== undefined && { title: props.title }),
    description: props.description,
    inputSchema: props.inputSchema,
    ...(props.outputSchema !== undefined && {
      outputSchema: props.outputSchema,
      outputSchemaId: hash(JSON.stringify(props.outputSchema)).slice(0, 16),
    }),
    ...(props.annotations !== undefined && { annotations: props.annotations }),
    taskSupport,
    timeout,
    ...(pollInterval !== undefined && { pollInterval }),
    ...(expectedDuration !== undefined && { expectedDuration }),
    ...(ttl !== undefined && { ttl }),
    ...(props.askFirst !== undefined && { askFirst: props.askFirst }),
    ...(props.keepArguments === true && { keepArguments: true }),
    ...(props.eventSummary === true && { eventSummary: true }),
    ...(props.files === true && { files: true }),
    ...(props.immediateResponse !== undefined && { immediateResponse: props.immediateResponse }),
    ...(!direct && { engine: props.stateMachine === undefined ? engine : 'machine' }),
    ...(props.scopes !== undefined && props.scopes.length > 0 && { scopes: props.scopes }),
    ...(headers.length > 0 && { headers }),
  };
}

function taskSupportOf({ handler, stateMachine, taskSupport }: ToolProps, refuse: Refuse): TaskSupport {
  if ((handler === undefined) === (stateMachine === undefined)) {
    refuse('give it either a handler (a Lambda function) or a stateMachine');
  }
  if (stateMachine === undefined) return taskSupport ?? 'forbidden';
  // The type forbids this, too, but a JavaScript app has no types.
  if ((taskSupport as TaskSupport | undefined) === 'forbidden') {
    refuse(`a state machine always runs as a task: set taskSupport to 'optional' or 'required', or leave it out`);
  }
  return taskSupport ?? 'optional';
}

/** Reads and checks the timeout, in milliseconds. */
function timeoutOf({ stateMachine, timeout: asked }: ToolProps, direct: boolean, maxTtl: number, refuse: Refuse) {
  const longest = stateMachine === undefined ? maxTtl : Math.min(maxTtl, ENGINES.machine.longestRun);
  const timeout = asked?.toMilliseconds() ?? (direct ? DIRECT : Math.min(LAMBDA, longest));
  if (timeout < 1_000 || timeout % 1_000 !== 0) refuse('a timeout is a whole number of seconds, at least 1');
  if (timeout > maxTtl) refuse('a timeout is at most the maxTtl of the server: raise it');
  if (timeout > longest) refuse('an execution of a state machine takes 365 days at most: lower its timeout');
  if (direct && timeout > DIRECT) refuse(`a tool without a task has ${DIRECT / 1_000} seconds: set taskSupport`);
  return timeout;
}

/** The ttl of long work: its result can be read for an hour after the deadline. */
function longTtl(timeout: number, maxTtl: number): number | undefined {
  return timeout < HOUR ? undefined : Math.min(timeout + HOUR, maxTtl);
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
