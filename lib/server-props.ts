import { Duration, Token } from 'aws-cdk-lib';
import type { Manifest } from '../functions/mcp/manifest.ts';
import { limits } from '../functions/tasks/limits.ts';
import { type Auth, checkUrl } from './auth/auth.ts';
import type { OperationProps } from './operation-props.ts';

export interface McpTaskServerProps extends OperationProps {
  /** Who may call, and how callers are told apart. There is no default. */
  readonly auth: Auth;
  /**
   * What clients put before `/mcp`, where `domain` does not say it: a name that you have mapped yourself, with the base
   * path that leads to the API. It is what `oauth` names in its metadata. @default that of `domain`, or of the stage
   */
  readonly publicUrl?: string;
  /** Name and version shown to clients. @default mcp-task-server 0.1.0 */
  readonly serverInfo?: { readonly name: string; readonly version: string; readonly title?: string };
  /** How to use the server, for the model. @default none */
  readonly instructions?: string;
  /**
   * The longest ttl a client can ask for, and the longest that work can take; at most 7 days. A task whose work takes
   * that long can be read for 5 minutes more. @default 24 hours
   */
  readonly maxTtl?: Duration;
  /** How long a call without a task waits for its result; 1 second to 10 minutes. @default 25 seconds */
  readonly inlineWindow?: Duration;
  /** How long one response stream is held before the client comes back; 1 second to 10 minutes. @default 50 seconds */
  readonly holdCap?: Duration;
  /** Offers `get_task_result` and `cancel_task` to clients that know no tasks. @default true */
  readonly helperTools?: boolean;
  /**
   * Lets a 2025-11-25 client that can be asked open a stream by GET, on which the questions of its tasks reach it even
   * if it only polls, and never waits with tasks/result. Each such client then asks every 1 to 30 seconds whether there
   * is anything. @default true
   */
  readonly questionStream?: boolean;
  /**
   * How many unfinished tasks one caller may have, 1 to 1000: one owner, or one anonymous session. Anonymous callers
   * without a session are not told apart, so not limited. @default 100
   */
  readonly maxOpenTasks?: number;
  /**
   * How many requests one caller may keep waiting at the same time, 1 to 1000: `subscriptions/listen`, `tasks/result`,
   * calls without a task, `get_task_result`. Callers are told apart as for `maxOpenTasks`. What comes beyond is refused
   * with HTTP 429 and `Retry-After`, or answered at once where the protocol has such an answer. @default 200
   */
  readonly maxStreams?: number;
  /**
   * Origins that browsers may call from, like `https://app.example`; `*` as port matches any port. Requests without
   * an Origin are not concerned. @default loopback addresses
   */
  readonly allowedOrigins?: readonly string[];
}

export type ServerSettings = Omit<Manifest, 'tools'>;

const SECOND = 1_000;
const DAY = 24 * 3_600 * SECOND;
const LOOPBACK = ['http://localhost:*', 'http://127.0.0.1:*', 'http://[::1]:*'];

/** What the endpoint is told, checked. */
export function serverSettings(props: McpTaskServerProps): ServerSettings {
  const allowedOrigins = props.allowedOrigins ?? LOOPBACK;
  const wrong = allowedOrigins.find((origin) => !/^[a-z][a-z0-9+.-]*:\/\/[^/*\s]+(:\*)?$/.test(origin));
  if (wrong !== undefined) throw new Error(`McpTaskServer: allowedOrigins: '${wrong}' is not like https://app.example`);
  if (props.publicUrl !== undefined) checkUrl('McpTaskServer: publicUrl', props.publicUrl);
  if (props.publicUrl?.endsWith('/')) throw new Error('McpTaskServer: publicUrl ends without a slash');
  return {
    auth: props.auth.kind,
    ...(props.auth.kind === 'oauth' && { scopes: props.auth.scopes }),
    serverInfo: props.serverInfo ?? { name: 'mcp-task-server', version: '0.1.0' },
    ...(props.instructions !== undefined && { instructions: props.instructions }),
    maxTtl: between('maxTtl', props.maxTtl, SECOND, 7 * DAY, DAY),
    inlineWindow: between('inlineWindow', props.inlineWindow, SECOND, 600 * SECOND, 25 * SECOND),
    holdCap: between('holdCap', props.holdCap, SECOND, 600 * SECOND, 50 * SECOND),
    helperTools: props.helperTools ?? true,
    questionStream: props.questionStream ?? true,
    maxOpenTasks: count('maxOpenTasks', props.maxOpenTasks ?? 100),
    maxStreams: count('maxStreams', props.maxStreams ?? 200),
    allowedOrigins,
  };
}

/** What stands before `/mcp` in the URL that clients use, checked; undefined: the URL of the stage. */
export function publicUrlOf({ publicUrl, domain }: McpTaskServerProps): string | undefined {
  if (domain === undefined) return publicUrl;
  if (publicUrl !== undefined) throw new Error('McpTaskServer: a domain says what its publicUrl is');
  const { name } = domain;
  if (!Token.isUnresolved(name) && !/^([a-z0-9][a-z0-9-]*\.)+[a-z]{2,}$/.test(name)) {
    throw new Error(`McpTaskServer: domain: '${name}' is not like mcp.example.com`);
  }
  return `https://${name}`;
}

/** How often the signing key is replaced, checked. */
export function keyRotation({ keyRotation: asked = Duration.days(90) }: McpTaskServerProps, maxTtl: number): Duration {
  const least = Math.max(maxTtl, limits.session) + DAY;
  const ms = asked.toMilliseconds();
  // Secrets Manager knows no shorter unit than hours.
  if (ms >= least && ms <= 365 * DAY && ms % (DAY / 24) === 0) return asked;
  throw new Error(`McpTaskServer: keyRotation lies between ${least / DAY} and 365 days, in whole hours`);
}

function count(name: string, value: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= 1_000) return value;
  throw new Error(`McpTaskServer: ${name} is a whole number from 1 to 1000`);
}

function between(name: string, value: Duration | undefined, least: number, most: number, standard: number): number {
  const ms = value?.toMilliseconds() ?? standard;
  if (ms >= least && ms <= most) return ms;
  throw new Error(`McpTaskServer: ${name} lies between ${least / SECOND} and ${most / SECOND} seconds`);
}
