import { listPartition, type Principal } from '../../tasks/ids.ts';
import { limits } from '../../tasks/limits.ts';
import { logUnexpected } from '../../tasks/log.ts';
import type { TaskKey } from '../../tasks/record.ts';
import type { ServerContext } from '../context.ts';
import { isOutage } from '../protocol/aws-outage.ts';
import { type Needs, readAgain } from '../read/read.ts';

/** In ms. A request that waits says so at least this often: its stream may then send a comment. */
const STEP = 1_000;

/** A request that reads again and again, until what it waits for is there. */
export interface Held<T> {
  /** Its caller, counted once the request has waited for `grace` ms. @default undefined: the request is counted already */
  readonly principal?: Principal;
  /** @default 0 */
  readonly grace?: number;
  /** When it reads for the last time, in ms since the epoch. */
  readonly until: number;
  readonly read: (first: boolean) => Promise<T>;
  /** From the end of one read to the next, in ms. */
  readonly pause: (last: T) => number;
}

/**
 * Yields what each read gives, and `waiting` at least each second between reads. Ends with `crowded` where the caller has
 * `maxStreams` requests that wait. A request whose answer is there at the first read is not counted.
 */
export async function* held<T>(
  { principal, grace = 0, until, read, pause }: Held<T>,
  server: ServerContext,
): AsyncGenerator<T | 'waiting' | 'crowded'> {
  const countedFrom = server.now() + grace;
  let close: CloseStream | undefined;
  try {
    for (let first = true; ; first = false) {
      const last = await read(first);
      yield last;
      if (server.now() >= until) return;
      if (principal !== undefined && close === undefined && server.now() >= countedFrom) {
        close = await openStream(principal, server);
        if (close === undefined) return yield 'crowded';
      }
      const next = Math.min(until, server.now() + pause(last));
      do {
        yield 'waiting';
        await server.sleep(Math.min(STEP, next - server.now()));
      } while (server.now() < next);
    }
  } finally {
    await close?.();
  }
}

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
  { grace = 0, ...needs }: Needs & Pick<Held<unknown>, 'grace'> = {},
) {
  let pause = FIRST / 1.5;
  return held(
    {
      principal,
      grace,
      until,
      // A round is started at the first read only: a client that waits longer makes another request, and the sweep checks, too.
      read: (first) =>
        readAgain(key, server, { report: true, restart: first, ...needs }).catch((error: unknown) => {
          if (!isOutage(error) || server.now() >= until) throw error;
          logUnexpected(error, 'watch', server.log);
          return 'waiting' as const;
        }),
      pause: () => (pause = Math.min(pause * 1.5, FASTEST)),
    },
    server,
  );
}

/** The time before a read of so many units, in ms: a stream reads `limits.streamUnits` a second at most. */
export const pauseFor = (units: number): number => Math.max(STEP, (1_000 * units) / limits.streamUnits);

/** Can be called again. It never throws. */
export type CloseStream = () => Promise<void>;

/**
 * Counts a request that is about to wait, on a stream or not (C-37). Returns undefined if its caller has `maxStreams`
 * already. Not counted: anonymous callers without a session, because they cannot be distinguished, and all callers in
 * an outage, so that they can continue to wait.
 */
export async function openStream(principal: Principal, server: ServerContext): Promise<CloseStream | undefined> {
  const owner = listPartition(principal);
  if (owner === undefined) return uncounted;
  const { maxStreams, holdCap, inlineWindow } = server.manifest;
  const longest = Math.max(holdCap, inlineWindow, limits.helperWait);
  const failed = (error: unknown) => logUnexpected(error, 'stream count');
  try {
    const stream = await server.store.openStream(owner, maxStreams, server.now(), longest);
    if (stream === undefined) return undefined;
    let closed: Promise<void> | undefined;
    return () => (closed ??= server.store.closeStream(stream).catch(failed));
  } catch (error) {
    if (!isOutage(error)) throw error;
    failed(error);
    return uncounted;
  }
}

const uncounted: CloseStream = async () => {};
