import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cloud } from '../cloud.ts';

/**
 * Writes where this `dev` listens, for `mcp-task-server tasks` in the same folder. Only the user can read the file: a
 * caller of the embedded cloud's endpoint may do everything there. The file is removed with the folder of the session.
 */
export function writeSessionFile(folder: string, { endpoint, region, url, stacks }: Cloud): void {
  const file = join(folder, 'server.json');
  const text = JSON.stringify({ pid: process.pid, endpoint, region, stacks, url });
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
