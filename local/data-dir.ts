import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** The folders of this process: after a crash its id may come again, in a container surely does. */
const held = new Set<string>();

/** Takes a data folder for this process; two on one LevelDB would end in an error far from its cause. */
export function lockDataDir(dataDir: string): () => void {
  mkdirSync(dataDir, { recursive: true });
  const file = resolve(dataDir, 'lock');
  const owner = ownerOf(file);
  const taken = owner === process.pid ? held.has(file) : owner !== undefined && isAlive(owner);
  if (taken) {
    throw new Error(`${dataDir} is in use by process ${owner} (if that is something else, remove ${file})`);
  }
  writeFileSync(file, String(process.pid));
  held.add(file);
  return () => {
    rmSync(file, { force: true });
    held.delete(file);
  };
}

function ownerOf(file: string): number | undefined {
  try {
    return Number(readFileSync(file, 'utf8')) || undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
