import { sufficient } from '../../authorizer/scopes.ts';
import { InsufficientScope } from '../../tasks/errors.ts';
import { listPartition, type Principal } from '../../tasks/ids.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import type { ServerContext } from '../context.ts';
import type { RpcMessage } from '../protocol/jsonrpc.ts';

/**
 * Throws InsufficientScope if the token does not allow this tool (G-09). The authorizer sees only headers: in 2026-07-28
 * they may name another tool than the body, and in 2025-11-25 they name none.
 */
export function checkCallScopes(principal: Principal, message: RpcMessage, server: ServerContext): void {
  if (message.kind !== 'request' || message.method !== 'tools/call') return;
  checkScopes(principal, { tool: message.params.name as string }, server);
}

/** What the caller asks for: a tool, or a task of that tool. */
type Wanted = Pick<TaskRecord, 'tool' | 'scopes'> & { readonly taskId?: string };

/** Throws InsufficientScope if the token does not allow the tool. Call it before anything is shown or changed. */
export function checkScopes(principal: Principal, wanted: Wanted, server: ServerContext): void {
  if (hasScopes(principal, wanted, server)) return;
  const { taskId, tool } = wanted;
  server.audit('denied', { owner: listPartition(principal), taskId, tool, reason: 'insufficient_scope' });
  throw new InsufficientScope(scopesOf(wanted, server));
}

/** As checkScopes, for lists: they leave out what their caller may not see (G-16). */
export function hasScopes(principal: Principal, wanted: Wanted, server: ServerContext): boolean {
  return sufficient(scopesOf(wanted, server), (principal.kind === 'verified' && principal.scopes) || []);
}

/** The scopes that the tool needs now. If the tool was removed: those it needed when the task was created. */
function scopesOf({ tool, scopes }: Wanted, { tools }: ServerContext): readonly string[] {
  const current = tools.get(tool);
  return (current === undefined ? scopes : current.entry.scopes) ?? [];
}
