import type { Principal } from '../../tasks/ids.ts';
import { logUnexpected } from '../../tasks/log.ts';
import type { TaskKey } from '../../tasks/record.ts';
import type { ServerContext } from '../context.ts';
import { isOutage } from '../protocol/aws-outage.ts';
import { type Needs, readAgain } from '../read/read.ts';
import { type Held, held } from './held.ts';

const FIRST = 50;
const FASTEST = 500;

/**
 * Reads a task that a request waits for, by `held`: undefined once it no longer exists. Reads are frequent at first,
 * because most tools are fast, then every half second. A read that fails in an outage is skipped, but the last one throws.
 */
export function watch(
  principal: Principal,
  key: TaskKey,
  until: number,
  server: ServerContext,
  { grace = 0, gone, ...needs }: Needs & Pick<Held<unknown>, 'grace' | 'gone'> = {},
) {
  let pause = FIRST / 1.5;
  return held(
    {
      principal,
      grace,
      until,
      gone,
      // A round is started at the first read only: a client that waits longer makes another request, and the sweep checks, too.
      read: (first) =>
        readAgain(key, server, { report: true, restart: first, ...needs }).catch((error: unknown) => {
          if (!isOutage(error) || server.now() >= until) throw error;
          logUnexpected(error, 'watch');
          return 'waiting' as const;
        }),
      pause: () => (pause = Math.min(pause * 1.5, FASTEST)),
    },
    server,
  );
}
