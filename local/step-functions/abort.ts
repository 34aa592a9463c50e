export interface ChildAbort {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  /** Removes the listener on the parent; otherwise a long execution would collect one per Parallel. */
  release(): void;
}

/** A signal that aborts with its parent or on its own. */
export function childAbort(parent: AbortSignal): ChildAbort {
  const controller = new AbortController();
  const follow = () => controller.abort(parent.reason);
  if (parent.aborted) follow();
  else parent.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release: () => parent.removeEventListener('abort', follow),
  };
}

/** Runs all pieces. The first failure aborts the others and is thrown after they have ended. */
export async function allOrAbort<T>(parent: AbortSignal, start: (signal: AbortSignal) => Promise<T>[]): Promise<T[]> {
  const group = childAbort(parent);
  const pieces = start(group.signal);
  try {
    return await Promise.all(pieces);
  } catch (failure) {
    group.abort(failure);
    await Promise.allSettled(pieces);
    throw failure;
  } finally {
    group.release();
  }
}
