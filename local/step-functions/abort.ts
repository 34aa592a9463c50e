export interface ChildAbort {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  /** Stops following the parent; without it a long execution would collect one listener per Parallel. */
  release(): void;
}

/** A signal that aborts with its parent or alone. */
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

/** Runs all pieces; the first failure aborts the others, which are gone before it is thrown. */
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
