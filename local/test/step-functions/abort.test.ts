import { describe, expect, it } from 'vitest';
import { allOrAbort } from '../../step-functions/abort.ts';

const reason = new Error('why');

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

  it('aborts its pieces with its parent, and not its parent with them', async () => {
    const parent = new AbortController();
    const aborted = (signal: AbortSignal) =>
      new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    await expect(allOrAbort(parent.signal, () => [Promise.reject(reason)])).rejects.toBe(reason);
    expect(parent.signal.aborted).toBe(false);
    const all = allOrAbort(parent.signal, (inner) => [aborted(inner)]);
    parent.abort('over');
    await expect(all).rejects.toBe('over');
  });

  it('gives the pieces of an aborted parent an aborted signal', async () => {
    const all = allOrAbort(AbortSignal.abort(reason), (inner) => [Promise.reject(inner.reason)]);
    await expect(all).rejects.toBe(reason);
  });
});
