import { InvalidParams } from '../../tasks/errors.ts';
import { listPartition } from '../../tasks/ids.ts';
import { limits } from '../../tasks/limits.ts';
import { LOG_LEVELS } from '../../tasks/store.ts';
import type { Method } from '../server.ts';

/** 2025-11-25 only: from here on the session's streams carry what tools report as log messages, too. Exactly `{}` (B-12). */
export const loggingSetLevel: Method = async ({ params, principal }, server) => {
  const level = LOG_LEVELS.find((known) => known === params.level);
  if (level === undefined) throw new InvalidParams(`level must be one of ${LOG_LEVELS.join(', ')}`);
  const owner = listPartition(principal);
  if (owner === undefined) throw new InvalidParams('logging/setLevel needs the MCP-Session-Id that initialize gave');
  await server.store.setLogLevel(owner, level, Math.ceil((server.now() + limits.session) / 1_000));
  return {};
};
