import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cloud } from '../cloud.ts';

/**
 * Says where this `dev` listens, for `mcp-task-server tasks` in the same folder. Only its user can read it: who reaches the
 * endpoint of the embedded cloud may do everything there. It goes with the folder of the session.
 */
export function writeSessionFile(folder: string, { endpoint, region, url, stacks }: Cloud): void {
  const file = join(folder, 'server.json');
  const text = JSON.stringify({ pid: process.pid, endpoint, region, stacks, url });
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
