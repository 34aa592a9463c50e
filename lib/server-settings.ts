import { Duration, Token } from 'aws-cdk-lib';
import type { WarmThroughput } from 'aws-cdk-lib/aws-dynamodb';
import { LogLevel } from 'aws-cdk-lib/aws-stepfunctions';
import type { Manifest } from '../functions/mcp/manifest.ts';
import { DAY, limits, MAX_TTL } from '../functions/tasks/limits.ts';
import { checkUrl } from './auth/auth.ts';
import { holdOf } from './events/options.ts';
import type { McpTaskServerProps, OperationProps } from './server-props.ts';

export type ServerSettings = Omit<Manifest, 'tools'>;

const SECOND = 1_000;
const LOOPBACK = ['http://localhost:*', 'http://127.0.0.1:*', 'http://[::1]:*'];

/** Checks the settings of the endpoint. */
export function serverSettings(props: McpTaskServerProps): ServerSettings {
  const allowedOrigins = props.allowedOrigins ?? LOOPBACK;
  const wrong = allowedOrigins.find((origin) => !/^[a-z][a-z0-9+.-]*:\/\/[^/*\s]+(:\*)?$/.test(origin));
  if (wrong !== undefined) throw new Error(`McpTaskServer: allowedOrigins: '${wrong}' is not like https://app.example`);
  if (props.publicUrl !== undefined) checkUrl('McpTaskServer: publicUrl', props.publicUrl);
  if (props.publicUrl?.endsWith('/')) throw new Error('McpTaskServer: publicUrl ends without a slash');
  const { min, max } = limits.holdRange;
  return {
    auth: props.auth.kind,
    ...(props.auth.kind === 'oauth' && { scopes: props.auth.scopes }),
    serverInfo: props.serverInfo ?? { name: 'mcp-task-server', version: '0.1.0' },
    ...(props.instructions !== undefined && { instructions: props.instructions }),
    maxTtl: between('maxTtl', props.maxTtl, SECOND, MAX_TTL, DAY),
    inlineWindow: between('inlineWindow', props.inlineWindow, min, max, limits.inlineWindow),
    holdCap: between('holdCap', props.holdCap, min, max, limits.holdCap),
    helperTools: props.helperTools ?? true,
    questionStream: props.questionStream ?? true,
    maxOpenTasks: count('maxOpenTasks', props.maxOpenTasks ?? 100),
    maxStreams: count('maxStreams', props.maxStreams ?? 200),
    allowedOrigins,
    ...(holdOf(props) !== undefined && { events: true }),
  };
}

/** Checks the part before `/mcp` of the URL that clients use. Undefined: the URL of the stage. */
export function publicUrlOf({ publicUrl, domain }: McpTaskServerProps): string | undefined {
  if (domain === undefined) return publicUrl;
  if (publicUrl !== undefined) throw new Error('McpTaskServer: a domain says what its publicUrl is');
  const { name } = domain;
  if (!Token.isUnresolved(name) && !/^([a-z0-9][a-z0-9-]*\.)+[a-z]{2,}$/.test(name)) {
    throw new Error(`McpTaskServer: domain: '${name}' is not like mcp.example.com`);
  }
  return `https://${name}`;
}

/** Checks how often the signing key is replaced. */
export function keyRotation({ keyRotation: asked = Duration.days(90) }: McpTaskServerProps): Duration {
  const least = limits.session + DAY;
  const ms = asked.toMilliseconds();
  // The shortest unit of Secrets Manager is an hour.
  if (ms >= least && ms <= 365 * DAY && ms % (DAY / 24) === 0) return asked;
  throw new Error(`McpTaskServer: keyRotation lies between ${least / DAY} and 365 days, in whole hours`);
}

/** What DynamoDB gives a new table ("Understanding DynamoDB warm throughput" in its developer guide). */
const LEAST_WARM = { readUnitsPerSecond: 12_000, writeUnitsPerSecond: 4_000 } as const;

/** Checks the units that the table takes from the beginning. */
export function warmThroughput({ warmThroughput: asked }: OperationProps): WarmThroughput | undefined {
  for (const [name, least] of Object.entries(LEAST_WARM)) {
    const value = asked?.[name as keyof WarmThroughput] ?? least;
    if (Token.isUnresolved(value) || (Number.isInteger(value) && value >= least)) continue;
    throw new Error(`McpTaskServer: warmThroughput: ${name} is a whole number from ${least} on`);
  }
  return asked;
}

/** Checks what the workflows log. */
export function workflowLogLevel({ workflowLogLevel: asked = LogLevel.ALL }: OperationProps): LogLevel {
  const levels = Object.values(LogLevel);
  if (levels.includes(asked)) return asked;
  throw new Error(`McpTaskServer: workflowLogLevel is one of ${levels.join(', ')}`);
}

/** Checks the pace of the sweep. */
export const sweepChecksPerSecond = ({ sweepChecksPerSecond: asked = limits.sweepChecks }: OperationProps): number =>
  count('sweepChecksPerSecond', asked, 100);

function count(name: string, value: number, most = 1_000): number {
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new Error(`McpTaskServer: ${name} is a whole number from 1 to ${most}`);
}

function between(name: string, value: Duration | undefined, least: number, most: number, standard: number): number {
  const ms = value?.toMilliseconds() ?? standard;
  if (ms >= least && ms <= most) return ms;
  throw new Error(`McpTaskServer: ${name} lies between ${least / SECOND} and ${most / SECOND} seconds`);
}
