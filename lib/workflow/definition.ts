import { readFileSync } from 'node:fs';
import { BEFORE_QUESTION, RUNNING, tableKey } from '../../functions/tasks/attributes.ts';
import { ENGINES, type Engine } from '../../functions/tasks/engines.ts';
import { CRASHED_NAME, RUN_FAILURES, RUN_MESSAGES } from '../../functions/tasks/failures.ts';
import { ID_LETTERS } from '../../functions/tasks/ids.ts';
import { limits } from '../../functions/tasks/limits.ts';

/**
 * Errors that mean the function did not run: a retry is safe even for a tool with side effects. Besides throttling, they
 * mean a function that is not ready: just made or updated, idle for weeks, or still without network, files or snapshot.
 */
const NOT_EXECUTED = [
  'TooManyRequestsException',
  'ResourceConflictException',
  'ResourceNotReadyException',
  'CodeArtifactUserPendingException',
  'SnapStartNotReadyException',
  'SnapStartTimeoutException',
  'S3FilesMountConnectivityException',
  'S3FilesMountTimeoutException',
  // Both spellings, of Lambda's API and of the Java SDKs' classes: Step Functions takes its names from the SDKs.
  'EC2ThrottledException',
  'Ec2ThrottledException',
  'ENILimitReachedException',
  'EniLimitReachedException',
  'ENINotReadyException',
  'EniNotReadyException',
  'SubnetIPAddressLimitReachedException',
  'SubnetIpAddressLimitReachedException',
  'EFSMountConnectivityException',
  'EfsMountConnectivityException',
  'EFSMountTimeoutException',
  'EfsMountTimeoutException',
].map((name) => `Lambda.${name}`);

/** Errors after which the function may have run. They are retried only for a tool that may be repeated. */
export const PERHAPS_EXECUTED = [
  'Lambda.ServiceException',
  'Lambda.AWSLambdaException',
  'Lambda.SdkClientException',
  'Lambda.ClientExecutionTimeoutException',
];

/** Errors of a runtime that died while the function ran. They are retried only for a tool that may be repeated. */
const CRASHED = ['Runtime.ExitError', 'Lambda.Unknown'];

/**
 * Numbers that the workflow shares with the rest of the server, by their name in `<…>`. Times are in milliseconds, sizes
 * in bytes.
 */
const NUMBERS = {
  deadlineGrace: limits.deadlineGrace,
  lateWrite: limits.lateWrite,
  inlineResult: limits.result.inline,
  eventRounds: limits.events.workflowRounds,
  statusShards: limits.statusShards,
  expressWork: ENGINES.express.work,
  // `Run` is the first state, so it starts at once. If it starts up to 30 s late, the longest function has its full time.
  expressLate: 5_000,
};

/** Tables by which expressions decide, as JSONata. */
const TABLES = {
  perhapsExecutedNames: JSON.stringify(PERHAPS_EXECUTED),
  crashedNames: JSON.stringify(CRASHED),
  runFailures: JSON.stringify(RUN_FAILURES),
  runMessages: JSON.stringify(RUN_MESSAGES),
  crashedName: String(CRASHED_NAME),
  idLetters: ID_LETTERS,
  running: `[${RUNNING.map((name) => `"${name}"`).join(', ')}]`,
  beforeQuestion: JSON.stringify(BEFORE_QUESTION),
};

/** What replaces these names on Standard, in `<…>`. */
const STANDARD = {
  runEnd: '$states.context.Execution.Input.deadlineAt',
  eventDeadline: '$x.deadlineAt',
  // A run that does not know of earlier ones would do their steps again.
  tryName: ', "run": $x.hasPast ? $uuid()',
  repeatable: '$states.context.Execution.Input.tool in ${RepeatableTools}',
};

/** The expressions that replace these names in `<…>`, by engine. */
const NAMES: Readonly<Record<Engine, Readonly<Record<string, string>>>> = {
  standard: STANDARD,
  machine: STANDARD,
  express: {
    runEnd: '<express/run-end.jsonata>',
    // A run that began late must not work past its own end.
    eventDeadline: '<express/run-end.jsonata>',
    // Two executions of one round may be at the same attempt, and none may overwrite the large result of another.
    tryName: ', "run": $uuid(), "taskDeadline": $states.context.Execution.Input.deadlineAt',
    // Only such tools may have this engine.
    repeatable: 'true',
  },
};

interface Asl {
  readonly States: Readonly<Record<string, unknown>>;
}

/**
 * The definition of the workflow that runs the tools of an engine: AWS and the embedded cloud run it. `Functions` and
 * `StateMachines` are substitutions, JSONata objects of ARNs by tool. Only the endpoint, the reconciler and operators write the
 * input that names the tool.
 */
export function definition(engine: Engine): string {
  const workflow = asl('tool.asl.json', engine);
  if (engine === 'standard') return JSON.stringify(workflow);
  const { Run, ...States } = workflow.States;
  if (engine === 'express') {
    return JSON.stringify({ ...workflow, States: { Run: toRunFailed(Run as RunState), ...States } });
  }
  const machine = asl('machine/tool.asl.json', engine);
  const { Finish, Store, Superseded } = States;
  return JSON.stringify({ ...machine, States: { ...machine.States, Finish, Store, Superseded } });
}

interface RunState {
  readonly Catch: readonly { readonly ErrorEquals: readonly string[]; readonly Output: string }[];
}

/** Changes the last catch, of all errors, for Express: it goes to RunFailed. */
function toRunFailed(run: RunState): RunState {
  const all = run.Catch.at(-1);
  const cut = all && { ...all, Output: include('{% <express/run-cut.jsonata> %}', 'express'), Next: 'RunFailed' };
  return { ...run, Catch: [...run.Catch.slice(0, -1), ...(cut ? [cut] : [])] };
}

function asl(file: string, engine: Engine): Asl {
  const errors: Readonly<Record<string, readonly string[]>> = {
    '<not executed>': NOT_EXECUTED,
    '<perhaps executed>': PERHAPS_EXECUTED,
    '<crashed>': CRASHED,
  };
  return JSON.parse(workflowFile(file), (_key, value: unknown) => {
    // In seconds: longer than `Run`, so that `Finish` has time to write.
    if (value === '<longestRun>') return ENGINES[engine].longestRun / 1_000;
    if (value === '<key>') return tableKey({ owner: ofInput('owner'), taskId: ofInput('taskId') });
    if (typeof value === 'string') return include(value, engine);
    if (!Array.isArray(value)) return value;
    return value.flatMap((item) => (typeof item === 'string' ? (errors[item] ?? item) : item));
  }) as Asl;
}

/** A string of the execution's input, as the API of DynamoDB takes it. */
const ofInput = (name: string) => ({ S: `{% $states.context.Execution.Input.${name} %}` });

/**
 * Replaces `<name.jsonata>` by the expression in the file, without its comments, and the names of `NUMBERS`, `TABLES` and
 * the engine by their values.
 */
export function include(text: string, engine: Engine = 'standard'): string {
  const named = Object.entries(NAMES[engine]).reduce(
    (filled, [name, what]) => filled.replaceAll(`<${name}>`, what),
    text,
  );
  const whole = named.replace(/<([a-z/-]+\.jsonata)>/g, (_match, file: string) =>
    include(
      workflowFile(file)
        .replace(/\/\*[\s\S]*?\*\//g, '')
        .replace(/\s*\n\s*/g, ' ')
        .trim(),
      engine,
    ),
  );
  const values = Object.entries({ ...NUMBERS, ...TABLES });
  return values.reduce((filled, [name, value]) => filled.replaceAll(`<${name}>`, () => String(value)), whole);
}

function workflowFile(name: string): string {
  return readFileSync(new URL(`./${name}`, import.meta.url), 'utf8');
}
