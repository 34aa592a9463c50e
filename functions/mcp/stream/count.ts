import { listPartition, type Principal } from '../../tasks/ids.ts';
import { limits } from '../../tasks/limits.ts';
import { logUnexpected } from '../../tasks/log.ts';
import type { ServerContext } from '../context.ts';
import { isOutage } from '../protocol/aws-outage.ts';

/** Call it once, when the stream has ended. It never throws. */
export type CloseStream = () => Promise<void>;

const uncounted: CloseStream = async () => {};

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
    return stream && (() => server.store.closeStream(stream).catch(failed));
  } catch (error) {
    if (!isOutage(error)) throw error;
    failed(error);
    return uncounted;
  }
}

/** The same frames. Closes once they end, also if the reader leaves before the first one. */
export function closing(frames: AsyncGenerator<string>, close: CloseStream): AsyncGenerator<string> {
  let closed: Promise<void> | undefined;
  const end = () => {
    closed ??= close();
    return closed;
  };
  const made = (async function* () {
    try {
      yield* frames;
    } finally {
      await end();
    }
  })();
  // A generator that has not begun runs no `finally`.
  const leave = made.return.bind(made);
  return Object.assign(made, { return: (value: undefined) => leave(value).finally(end) });
}
