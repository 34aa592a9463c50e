import { InvalidParams } from '../../tasks/errors.ts';
import { listPartition } from '../../tasks/ids.ts';
import { limits } from '../../tasks/limits.ts';
import type { Method } from '../context.ts';
import { openCursor } from '../read/cursor.ts';
import { withPreviewLink } from '../read/links.ts';
import { view, visible } from '../read/read.ts';

/** 2025-11-25 only: what this token may see, newest first, consistent (C-23). Cursors are signed (C-24). */
export const tasksList: Method = async ({ params, principal, wire }, server) => {
  const owner = listPartition(principal);
  if (owner === undefined) throw new InvalidParams('tasks/list needs the MCP-Session-Id that initialize gave');
  const purpose = `cursor:${owner}`;
  const after = await openCursor({ params }, { purpose, owner }, server);
  await server.pollLimit.countList(principal, server);
  const readAt = server.now();
  const page = await server.store.list(owner, limits.listPage, after);
  const seen = visible(principal, page.tasks, readAt, server);
  const linked = await Promise.all(seen.map((record) => withPreviewLink(record, server)));
  const tasks = linked.map((record) => wire.task(view(record, server)));
  return { tasks, ...(page.last !== undefined && { nextCursor: await server.signer.seal(purpose, page.last) }) };
};
