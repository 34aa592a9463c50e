import { expect, test, vi } from 'vitest';
import { openCursor } from '../../../../functions/mcp/read/cursor.ts';
import { InvalidParams } from '../../../../functions/tasks/errors.ts';

const list = { purpose: 'cursor:ann', owner: 'ann' };
/** Knows one cursor. */
const signer = {
  open: async (purpose: string, text: string) => (purpose === list.purpose && text === 'sealed' ? 'place' : undefined),
} as never;

test('a cursor of the list gives the place where its page begins; without one it is the first', async () => {
  const audit = vi.fn();
  expect(await openCursor({ params: { cursor: 'sealed' } }, list, { signer, audit })).toBe('place');
  expect(await openCursor({ params: {} }, list, { signer, audit })).toBeUndefined();
  expect(audit).not.toHaveBeenCalled();
});

test.each([['x'], [''], [1], [null]])('another cursor is refused and audited: %j (A-24, C-24)', async (cursor) => {
  const audit = vi.fn();
  await expect(openCursor({ params: { cursor } }, list, { signer, audit })).rejects.toThrow(
    new InvalidParams('cursor is not one of this list'),
  );
  expect(audit).toHaveBeenCalledWith('denied', { owner: 'ann', reason: 'cursor' });
});
