import { syncBuiltinESMExports } from 'node:module';
import timers, { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, vi } from 'vitest';

/** Pauses of the library last one turn. @returns how long they would have been, in ms */
export function instantPauses(): readonly number[] {
  const pauses: number[] = [];
  beforeEach(() => {
    pauses.length = 0;
    vi.spyOn(timers, 'setTimeout').mockImplementation(async (ms = 0, value, { signal } = {}) => {
      pauses.push(ms);
      signal?.throwIfAborted();
      await setImmediate();
      signal?.throwIfAborted();
      return value as never;
    });
    syncBuiltinESMExports();
  });
  afterEach(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
  return pauses;
}
