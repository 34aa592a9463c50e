import { inspect } from 'node:util';
import { asDiskError } from './disk/disk.ts';

/** Reads `--port`. */
export function portOf(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new Error(`${text} is not a port`);
  return Number(text);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Why a server did not start, for its user. */
export function explain(error: unknown, port: number): string {
  const inUse = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
  return inUse ? `port ${port} is in use: choose another one with --port` : messageOf(error);
}

/** Ends this process after an uncaught error, and says what to do if it is about the data folder. */
export function endAfterUncaught(dataDir = ''): void {
  process.once('uncaughtException', (error) => {
    process.stderr.write(`${asDiskError(error, dataDir)?.message ?? inspect(error)}\n`);
    process.exit(1);
  });
}
