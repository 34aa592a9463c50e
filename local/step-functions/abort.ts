/** Runs all pieces. The first failure aborts the others and is thrown after they have ended. */
export async function allOrAbort<T>(parent: AbortSignal, start: (signal: AbortSignal) => Promise<T>[]): Promise<T[]> {
  const group = new AbortController();
  const pieces = start(AbortSignal.any([parent, group.signal]));
  try {
    return await Promise.all(pieces);
  } catch (failure) {
    group.abort(failure);
    await Promise.allSettled(pieces);
    throw failure;
  }
}
