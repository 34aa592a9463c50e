import { closeSync, fsync, fsyncSync, ftruncateSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { DiskError, onDisk } from '../../disk/disk.ts';
import type { StateMachineSpec } from '../types.ts';
import type { Running } from './read.ts';
import type { CalledRecord, ClosedRecord, Journal, JournalRecord } from './records.ts';

export interface JournalOptions {
  readonly file: string;
  /** Executions that continue. */
  readonly running: readonly Running[];
  /** All closed executions, for a rewrite of the journal. */
  readonly closed: () => Iterable<ClosedRecord>;
  /** The size in bytes at which the file is rewritten; then again at twice the rewritten size. @default 64 MiB */
  readonly compactAt?: number | undefined;
}

const COMPACT_AT = 64 * 2 ** 20;
const BATCH = 2 ** 20;

interface Entry {
  readonly machine: string;
  readonly lines: string[];
}

/**
 * The file behind the journal. When a call returns, the operating system has the record, so it outlives this process
 * however it ends. The start of a function call is synced to the disk, with all records before it, and the call waits
 * for the sync: after a power cut, no function that may have run runs again. At the start, and whenever the file has
 * grown, it is rewritten as a second file, which replaces it: a closed execution keeps one line.
 *
 * @throws DiskError if the file cannot be written, which also ends the process
 */
export function openJournal({ file, running, closed, compactAt = COMPACT_AT }: JournalOptions): Journal {
  const machines = new Map<string, string>();
  const entries = new Map<number, Entry>();
  for (const { spec, started, lines } of running) {
    machines.set(started.machine, machineLine(started.machine, spec));
    entries.set(started.execution, { machine: started.machine, lines });
  }
  let fd: number | undefined;
  let size = 0;
  let limit = 0;

  function* lines() {
    yield* machines.values();
    for (const entry of entries.values()) yield* entry.lines;
    for (const record of closed()) yield lineOf({ ...record, type: 'closed' });
  }
  const rewrite = () => {
    const used = new Set([...entries.values()].map(({ machine }) => machine));
    for (const id of machines.keys()) if (!used.has(id)) machines.delete(id);
    const written = writeFile(`${file}.new`, lines());
    renameSync(`${file}.new`, file);
    syncFolder(dirname(file));
    if (fd !== undefined) closeSync(fd);
    ({ fd, size } = written);
    limit = Math.max(compactAt, 2 * size);
  };
  const boundSize = () => {
    if (size <= limit) return;
    try {
      rewrite();
    } catch {
      // The old file is still complete.
      limit = 2 * size;
    }
  };
  const sync = createSync(file, () => fd);
  const append = (textOf: () => string) => {
    if (fd === undefined) return;
    // A rewrite comes before the record: after it, the execution that it ends would be neither running nor closed.
    boundSize();
    const [to, bytes] = [fd, Buffer.from(textOf())];
    onDisk(file, () => {
      try {
        writeAt(to, bytes, size);
      } catch (thrown) {
        // A full disk may take a part of a record. It is cut off: a shorter record in its place would leave the rest of it.
        ftruncateSync(to, size);
        throw thrown;
      }
    });
    size += bytes.length;
  };
  const note = (record: JournalRecord & CalledRecord) => {
    const line = lineOf(record);
    append(() => line);
    entries.get(record.execution)?.lines.push(line);
  };

  try {
    rewrite();
  } catch (thrown) {
    throw new DiskError(file, thrown);
  }
  return {
    started(record, spec) {
      const { execution, machine } = record;
      const line = lineOf({ type: 'started', ...record });
      const definition = machines.get(machine) ?? machineLine(machine, spec);
      append(() => (machines.has(machine) ? line : definition + line));
      machines.set(machine, definition);
      entries.set(execution, { machine, lines: [line] });
    },
    called(record, durable = false) {
      note({ type: 'called', ...record });
      return durable ? sync() : undefined;
    },
    answered: (record) => note({ type: 'answered', ...record }),
    ended(record) {
      append(() => lineOf({ type: 'ended', ...record }));
      entries.delete(record.execution);
    },
    close() {
      if (fd !== undefined) closeSync(fd);
      fd = undefined;
    },
  };
}

/**
 * Syncs the file to the disk: the records that were written before the call. Calls that arrive while a sync is under way
 * share the next one. A failure ends the process, and none of the calls returns.
 * @param current the file that is open now; a rewritten file is already synced
 */
function createSync(file: string, current: () => number | undefined): () => Promise<void> {
  let under: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  const run = () =>
    new Promise<void>((resolve) => {
      next = undefined;
      const fd = current();
      if (fd === undefined) return;
      fsync(fd, (error) => {
        if (error && fd === current()) throw new DiskError(file, error);
        // If the journal was closed meanwhile, the call never returns, as if the process had died.
        if (current() !== undefined) resolve();
      });
    });
  return () => {
    if (next === undefined) {
      next = under.then(run);
      under = next;
    }
    return next;
  };
}

function machineLine(machine: string, spec: StateMachineSpec): string {
  return lineOf({ type: 'machine', machine, spec });
}

function lineOf(record: JournalRecord): string {
  return `${JSON.stringify(record)}\n`;
}

/** Writes a new file, syncs it to the disk and leaves it open. Inputs are as confidential as tables: mode 0600. */
function writeFile(file: string, lines: Iterable<string>): { fd: number; size: number } {
  const fd = openSync(file, 'w', 0o600);
  let size = 0;
  let batch = '';
  const flush = () => {
    const bytes = Buffer.from(batch);
    writeAt(fd, bytes, size);
    size += bytes.length;
    batch = '';
  };
  try {
    for (const line of lines) {
      batch += line;
      if (batch.length > BATCH) flush();
    }
    flush();
    fsyncSync(fd);
    return { fd, size };
  } catch (thrown) {
    closeSync(fd);
    // An incomplete file takes the space that the next record needs.
    rmSync(file, { force: true });
    throw thrown;
  }
}

/** Writes at an explicit position: after a partial write, the position of the file itself is wrong. */
function writeAt(fd: number, bytes: Buffer, position: number): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done, position + done);
}

/** Makes a rename survive a power cut. */
function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
