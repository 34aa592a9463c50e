import { appendFileSync, closeSync, ftruncateSync, openSync, renameSync } from 'node:fs';
import type { StateMachineSpec } from '../types.ts';
import type { Running } from './read.ts';
import type { CalledRecord, ClosedRecord, Journal, JournalRecord } from './records.ts';

export interface JournalOptions {
  readonly file: string;
  /** Executions that go on. */
  readonly running: readonly Running[];
  /** All executions that are over, for a journal that begins anew. */
  readonly closed: () => Iterable<ClosedRecord>;
  /** Begins anew at so many bytes, and at twice what it then still held. @default 64 MiB */
  readonly compactAt?: number | undefined;
}

const COMPACT_AT = 64 * 2 ** 20;
const BATCH = 2 ** 20;

interface Entry {
  readonly machine: string;
  readonly lines: string[];
}

/**
 * The file behind the journal. A record is in the hands of the operating system when the call returns, so it outlives
 * this process however that ends (not the machine: there is no fsync). At the start and from time to time it is written
 * anew, by way of a second file, without what is over: of a closed execution one line is left.
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
  const beginAnew = () => {
    const used = new Set([...entries.values()].map(({ machine }) => machine));
    for (const id of machines.keys()) if (!used.has(id)) machines.delete(id);
    const written = writeFile(`${file}.new`, lines());
    renameSync(`${file}.new`, file);
    if (fd !== undefined) closeSync(fd);
    ({ fd, size } = written);
    limit = Math.max(compactAt, 2 * size);
  };
  const boundSize = () => {
    if (size <= limit) return;
    try {
      beginAnew();
    } catch {
      // The old file is still there and whole.
      limit = 2 * size;
    }
  };
  const append = (textOf: () => string) => {
    if (fd === undefined) return;
    // Not after the record: then the execution that ends by it would count neither as running nor as closed.
    boundSize();
    const text = textOf();
    try {
      appendFileSync(fd, text);
      size += Buffer.byteLength(text);
    } catch (thrown) {
      // A full disk took a part of it: the next record must not continue that line.
      ftruncateSync(fd, size);
      throw thrown;
    }
  };
  const note = (record: JournalRecord & CalledRecord) => {
    const line = lineOf(record);
    append(() => line);
    entries.get(record.execution)?.lines.push(line);
  };

  beginAnew();
  return {
    started(record, spec) {
      const { execution, machine } = record;
      const line = lineOf({ type: 'started', ...record });
      const definition = machines.get(machine) ?? machineLine(machine, spec);
      append(() => (machines.has(machine) ? line : definition + line));
      machines.set(machine, definition);
      entries.set(execution, { machine, lines: [line] });
    },
    called: (record) => note({ type: 'called', ...record }),
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

function machineLine(machine: string, spec: StateMachineSpec): string {
  return lineOf({ type: 'machine', machine, spec });
}

function lineOf(record: JournalRecord): string {
  return `${JSON.stringify(record)}\n`;
}

/** Writes a file of its own and leaves it open. Inputs are as confidential as tables: it is for its owner alone. */
function writeFile(file: string, lines: Iterable<string>): { fd: number; size: number } {
  const fd = openSync(file, 'w', 0o600);
  let size = 0;
  let batch = '';
  const flush = () => {
    appendFileSync(fd, batch);
    size += Buffer.byteLength(batch);
    batch = '';
  };
  try {
    for (const line of lines) {
      batch += line;
      if (batch.length > BATCH) flush();
    }
    flush();
    return { fd, size };
  } catch (thrown) {
    closeSync(fd);
    throw thrown;
  }
}
