import { InvalidParams } from '../../tasks/errors.ts';
import type { Call, ServerContext } from '../context.ts';

/** Where a page of an owner's list begins. Cursors are signed (A-24, C-24). Throws InvalidParams for any other. */
export async function openCursor(
  { params: { cursor } }: Pick<Call, 'params'>,
  { purpose, owner }: { readonly purpose: string; readonly owner: string },
  { signer, audit }: Pick<ServerContext, 'signer' | 'audit'>,
): Promise<string | undefined> {
  if (cursor === undefined) return undefined;
  const opened = typeof cursor === 'string' ? await signer.open(purpose, cursor) : undefined;
  if (typeof opened === 'string') return opened;
  audit('denied', { owner, reason: 'cursor' });
  throw new InvalidParams('cursor is not one of this list');
}
