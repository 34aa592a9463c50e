import { readFileSync } from 'node:fs';
import { limits, MAX_TTL } from '../../functions/tasks/limits.ts';

/**
 * The function did not run: a retry is safe even for a tool with side effects. Besides throttling, these are functions
 * that are not ready: just made or updated, idle for weeks, or still without their network, files or snapshot.
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
  // As Lambda's API spells them, and as the classes of the Java SDKs do: Step Functions takes its names from those.
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

/** The function may have run: Step Functions does not know. Retried only for a tool that may be repeated. */
const PERHAPS_EXECUTED = [
  'Lambda.ServiceException',
  'Lambda.AWSLambdaException',
  'Lambda.SdkClientException',
  'Lambda.ClientExecutionTimeoutException',
];

/** The function ran and its runtime died. Retried only for a tool that may be repeated. */
const CRASHED = ['Runtime.ExitError', 'Lambda.Unknown'];

/** Numbers that the workflow shares with the rest of the server, by the name that stands for them in `<…>`. Times in ms. */
const NUMBERS = {
  deadlineGrace: limits.deadlineGrace,
  lateWrite: limits.lateWrite,
  eventRounds: limits.events.workflowRounds,
};

/** In seconds: 10 minutes more than any ttl, so `Run` ends first and `Finish` has time to write. */
const LONGEST_RUN = MAX_TTL / 1_000 + 600;

interface Asl {
  readonly States: Readonly<Record<string, unknown>>;
}

/** The text that AWS and the embedded cloud run for a tool that is a function. */
export function definition(repeatable: boolean): string {
  return JSON.stringify(asl('tool.asl.json', repeatable));
}

/** The same for a tool that is a state machine. Its last two states are the same. */
export function machineDefinition(): string {
  const { Finish, Superseded } = asl('tool.asl.json', false).States;
  const machine = asl('machine-tool.asl.json', false);
  return JSON.stringify({ ...machine, States: { ...machine.States, Finish, Superseded } });
}

function asl(file: string, repeatable: boolean): Asl {
  const errors: Readonly<Record<string, readonly string[]>> = {
    '<not executed>': NOT_EXECUTED,
    '<perhaps executed>': repeatable ? PERHAPS_EXECUTED : [],
    '<crashed>': repeatable ? CRASHED : [],
  };
  return JSON.parse(workflowFile(file), (_key, value: unknown) => {
    if (value === '<longestRun>') return LONGEST_RUN;
    if (typeof value === 'string') return include(value);
    if (!Array.isArray(value)) return value;
    const named = value.flatMap((item) => (typeof item === 'string' ? (errors[item] ?? item) : item));
    // A retrier without errors is not allowed.
    return named.filter((item) => (item as { ErrorEquals?: unknown[] } | null)?.ErrorEquals?.length !== 0);
  }) as Asl;
}

/**
 * Replaces `<name.jsonata>` by that file's expression, without its comments, and the names of `NUMBERS` by the numbers.
 */
export function include(text: string): string {
  const whole = text.replace(/<([a-z-]+\.jsonata)>/g, (_match, file: string) =>
    include(
      workflowFile(file)
        .replace(/\/\*[\s\S]*?\*\//g, '')
        .replace(/\s*\n\s*/g, ' ')
        .trim(),
    ),
  );
  return Object.entries(NUMBERS).reduce((filled, [name, ms]) => filled.replaceAll(`<${name}>`, String(ms)), whole);
}

function workflowFile(name: string): string {
  return readFileSync(new URL(`./${name}`, import.meta.url), 'utf8');
}
