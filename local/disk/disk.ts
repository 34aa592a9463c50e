import { renameSync, writeFileSync } from 'node:fs';

/** The data folder cannot be written. The message is for the user, and says what to do. */
export class DiskError extends Error {
  constructor(path: string, cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause);
    super(
      `${path} cannot be written: ${why}\n` +
        'The process ends, so that it answers nothing that it cannot keep. What it answered so far is kept. ' +
        'Make room (or make the folder writable), then start again with the same --data.',
      { cause },
    );
    this.name = 'DiskError';
  }
}

/**
 * Writes into the data folder. If that fails, the caller gets a DiskError, and the same error ends the process as an
 * uncaught one: a service that continues after a lost write would fail tasks because the disk is full.
 */
export function onDisk<T>(path: string, write: () => T): T {
  try {
    return write();
  } catch (cause) {
    const error = new DiskError(path, cause);
    queueMicrotask(() => {
      throw error;
    });
    throw error;
  }
}

/** Replaces a file by a rename: a crash leaves the old one or the new one, never a half. Only the user can read it. */
export function replaceFile(file: string, content: string | Buffer): void {
  writeFileSync(`${file}.new`, content, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Turns an uncaught error of LevelDB into a DiskError: LevelDB throws where no caller can catch. */
export function asDiskError(error: unknown, dataDir: string): DiskError | undefined {
  if (error instanceof DiskError) return error;
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  if (code === 'LEVEL_IO_ERROR') return new DiskError(dataDir, error);
  return cause instanceof Error ? asDiskError(cause, dataDir) : undefined;
}
