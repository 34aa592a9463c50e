import type { Duration } from 'aws-cdk-lib';
import type { Auth } from '../auth/auth.ts';

/** Options of MCP Events. */
export interface EventsOptions {
  /**
   * How long the owner of a task must send no request before an event is posted, but at most 5 minutes after the event: some clients
   * lose what comes while their own turn runs. 0 to 5 minutes. @default 90 seconds
   * @example Duration.seconds(0)
   */
  readonly hold?: Duration;
}

const DEFAULT_HOLD = 90_000;
const MOST_HOLD = 300_000;

/** How long an owner must be silent, in ms. Undefined: the server has no events. Throws for what cannot work. */
export function holdOf({ events = false, auth }: { events?: boolean | EventsOptions; auth: Auth }): number | undefined {
  if (events === false) return undefined;
  if (auth.kind === 'anonymous') {
    throw new Error('McpTaskServer: events need to know whose a task is: use Auth.oauth(…) or Auth.iam()');
  }
  const hold = (events === true ? undefined : events.hold)?.toMilliseconds() ?? DEFAULT_HOLD;
  if (hold >= 0 && hold <= MOST_HOLD) return hold;
  throw new Error('McpTaskServer: events: hold lies between 0 and 5 minutes');
}
