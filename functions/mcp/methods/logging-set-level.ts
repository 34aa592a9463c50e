import { InvalidParams } from '../../tasks/errors.ts';
import { sessionPartition } from '../../tasks/ids.ts';
import { LOG_LEVELS, type SessionNotes } from '../../tasks/table/session-notes.ts';
import type { Method } from '../context.ts';
import { sessionExpires } from '../identity/session.ts';

/** 2025-11-25 only: the session's streams then carry reports of tools as logs, too. Returns exactly `{}` (B-12). */
export const loggingSetLevel: Method = async ({ params, principal, session }, server) => {
  const level = LOG_LEVELS.find((known) => known === params.level);
  if (level === undefined) throw new InvalidParams(`level must be one of ${LOG_LEVELS.join(', ')}`);
  if (session === undefined) throw new InvalidParams('logging/setLevel needs the MCP-Session-Id that initialize gave');
  // Before any read: it may write all notes of the session.
  await server.pollLimit.countList(principal, server);
  const change = (notes: SessionNotes) => (notes.logLevel === level ? undefined : { ...notes, logLevel: level });
  await server.store.updateSession(sessionPartition(session), change, sessionExpires(server));
  return {};
};
