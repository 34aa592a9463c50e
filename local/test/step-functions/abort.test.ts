import { describe, expect, it } from 'vitest';
import { allOrAbort, childAbort } from '../../step-functions/abort.ts';

const reason = new Error('why');

describe('childAbort', () => {
  it('aborts with its parent, not the other way round', () => {
    const parent = new AbortController();
    const [one, two] = [childAbort(parent.signal), childAbort(parent.signal)];
    one.abort('alone');
    expect([one.signal.aborted, two.signal.aborted, parent.signal.aborted]).toEqual([true, false, false]);
    parent.abort(reason);
    expect([one.signal.reason, two.signal.reason]).toEqual(['alone', reason]);
  });

  it('of an aborted parent is aborted, and once released no longer follows', () => {
    expect(childAbort(AbortSignal.abort(reason)).signal.reason).toBe(reason);
    const parent = new AbortController();
    const child = childAbort(parent.signal);
    child.release();
    parent.abort();
    expect(child.signal.aborted).toBe(false);
  });
});

describe('allOrAbort', () => {
  it('throws the first failure after the other pieces are gone', async () => {
    const gone: unknown[] = [];
    const piece = (signal: AbortSignal) =>
      new Promise<void>((_, reject) => {
        signal.addEventListener('abort', () => {
          gone.push(signal.reason);
          reject(new Error('a second failure'));
        });
      });
    const { signal } = new AbortController();
    const all = allOrAbort(signal, (inner) => [piece(inner), Promise.reject(reason), piece(inner)]);
    await expect(all).rejects.toBe(reason);
    expect(gone).toEqual([reason, reason]);
  });
});
