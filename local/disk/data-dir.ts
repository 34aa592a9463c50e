import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { asDiskError } from './disk.ts';

const STICKY = 0o1000;

/**
 * Locks a data folder for this process before anything reads or writes it, and keeps other users of the machine out.
 * An empty LevelDB holds the lock: `fcntl` on a file. Other containers that mount the folder see it. The kernel releases
 * it however this process ends, so a stale lock never blocks a start.
 *
 * @returns releases it
 * @throws DiskError if the folder cannot be written
 */
export async function lockDataDir(dataDir: string): Promise<() => Promise<void>> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  keepToOwner(dataDir);
  const lock = new ClassicLevel(join(dataDir, 'in-use'));
  try {
    await lock.open();
  } catch (error) {
    throw isLocked(error)
      ? new Error(`${dataDir} is in use by another embedded cloud: stop that one first, or choose another folder`)
      : (asDiskError(error, dataDir) ?? error);
  }
  return () => lock.close();
}

function keepToOwner(dataDir: string): void {
  const { mode, uid } = statSync(dataDir);
  const { getuid } = process;
  if ((mode & STICKY) !== 0 || (getuid !== undefined && uid !== getuid())) {
    throw new Error(`${dataDir} belongs to other users, too: choose a folder of your own, tasks are confidential`);
  }
  chmodSync(dataDir, 0o700);
}

function isLocked(error: unknown): boolean {
  return error instanceof Error && (('code' in error && error.code === 'LEVEL_LOCKED') || isLocked(error.cause));
}
