import { createHash, randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { onDisk, replaceFile } from '../disk/disk.ts';
import type { Checksum } from './checksum.ts';

/** A run of bytes in a file. */
export interface Segment {
  readonly at: number;
  readonly bytes: number;
}

export interface ObjectFacts {
  readonly key: string;
  readonly type: string;
  readonly etag: string;
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
  /** Headers that were sent with the object and come back with it. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly checksum?: Checksum | undefined;
  /** A file of the folder, and where the object is in it. */
  readonly content: { readonly file: string; readonly segments: readonly Segment[] };
}

/** A file that receives bytes. No reader sees them before an object refers to them. */
export interface Receiver {
  readonly file: string;
  /** Writes at this position. */
  write(piece: Buffer, at: number): void;
  close(): void;
}

/** The objects of one bucket: each has a file with its facts, named by a digest of its key, and one with its bytes. */
export type Objects = ReturnType<typeof openObjects>;

const FACTS = '.json';
const BYTES = '.bytes';
const TO_WRITE = constants.O_WRONLY | constants.O_CREAT;

export function openObjects(folder: string) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const fileOf = (key: string) => join(folder, createHash('sha256').update(key).digest('hex'));
  const drop = (file: string) => rmSync(join(folder, file), { force: true });
  const known = new Map(readFacts(folder).map((facts) => [facts.key, facts]));

  return {
    all: (): readonly ObjectFacts[] => [...known.values()],
    find: (key: string): ObjectFacts | undefined => known.get(key),
    /** Removes the files that neither an object nor an upload refers to: a process has died while it wrote them. */
    tidy(ofUploads: readonly string[]): void {
      const kept = new Set([...ofUploads, ...[...known.values()].map(({ content }) => content.file)]);
      for (const name of readdirSync(folder)) {
        if (name.endsWith('.new') || (name.endsWith(BYTES) && !kept.has(name))) drop(name);
      }
    },
    /** @param name of a file with bytes. @default a new one */
    receiver(name = `${randomUUID()}${BYTES}`): Receiver {
      const file = onDisk(folder, () => openSync(join(folder, name), TO_WRITE, 0o600));
      return {
        file: name,
        write: (piece, at) => onDisk(folder, () => writeAll(file, piece, at)),
        close: () => closeSync(file),
      };
    },
    /** Makes an object visible, in place of an older one with its key. */
    commit(facts: ObjectFacts): void {
      const older = known.get(facts.key)?.content.file;
      onDisk(folder, () => replaceFile(`${fileOf(facts.key)}${FACTS}`, JSON.stringify(facts)));
      known.set(facts.key, facts);
      if (older !== undefined && older !== facts.content.file) drop(older);
    },
    remove(key: string): void {
      const facts = known.get(key);
      known.delete(key);
      rmSync(`${fileOf(key)}${FACTS}`, { force: true });
      if (facts) drop(facts.content.file);
    },
    drop,
    /** The bytes from `start` to before `end`, as they are now, whatever happens to the object later. */
    read: ({ content }: ObjectFacts, start: number, end: number): Readable =>
      streamOf(join(folder, content.file), within(content.segments, start, end)),
  };
}

function writeAll(file: number, piece: Buffer, at: number): void {
  for (let done = 0; done < piece.length; ) done += writeSync(file, piece, done, piece.length - done, at + done);
}

/** Joins segments that follow each other: parts that arrive in order are one run of bytes. */
export function joined(segments: readonly Segment[]): Segment[] {
  const runs: { at: number; bytes: number }[] = [];
  for (const { at, bytes } of segments) {
    const last = runs.at(-1);
    if (last && last.at + last.bytes === at) last.bytes += bytes;
    else runs.push({ at, bytes });
  }
  return runs;
}

function within(segments: readonly Segment[], start: number, end: number): Segment[] {
  let before = 0;
  return segments.flatMap(({ at, bytes }) => {
    const from = Math.max(start - before, 0);
    const to = Math.min(end - before, bytes);
    before += bytes;
    return from < to ? [{ at: at + from, bytes: to - from }] : [];
  });
}

const PIECE_BYTES = 65_536;

function streamOf(path: string, segments: readonly Segment[]): Readable {
  const file = openSync(path, 'r');
  const left = segments.map(({ at, bytes }) => ({ at, bytes }));
  return new Readable({
    highWaterMark: PIECE_BYTES,
    read() {
      const [next] = left;
      if (!next) return void this.push(null);
      const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, next.bytes));
      const length = readSync(file, piece, 0, piece.length, next.at);
      if (length === 0) return void this.destroy(new Error(`${path} is shorter than its object`));
      next.at += length;
      next.bytes -= length;
      if (next.bytes === 0) left.shift();
      this.push(piece.subarray(0, length));
    },
    destroy(error, callback) {
      closeSync(file);
      callback(error);
    },
  });
}

function readFacts(folder: string): ObjectFacts[] {
  const names = readdirSync(folder);
  const older = names.filter((name) => /^[\da-f]{64}$/.test(name)).map((name) => olderFacts(folder, name));
  const facts = names
    .filter((name) => name.endsWith(FACTS))
    .map((name) => about(folder, name, () => JSON.parse(readFileSync(join(folder, name), 'utf8')) as ObjectFacts));
  return [...older, ...facts];
}

function about<T>(folder: string, name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new Error(`${join(folder, name)} does not hold an object of the embedded S3`, { cause: error });
  }
}

/** More than the metadata of an object with the longest key of S3. */
const LONGEST_LINE = 16_384;

/** An object of version 0.1.0: one file, a line of JSON with its facts, then its bytes. */
function olderFacts(folder: string, name: string): ObjectFacts {
  const file = openSync(join(folder, name), 'r');
  try {
    const start = Buffer.alloc(LONGEST_LINE);
    const end = start.subarray(0, readSync(file, start)).indexOf('\n');
    return about(folder, name, () => {
      const facts = JSON.parse(start.toString('utf8', 0, end)) as ObjectFacts;
      const segments = [{ at: end + 1, bytes: fstatSync(file).size - end - 1 }];
      return { ...facts, content: { file: name, segments } };
    });
  } finally {
    closeSync(file);
  }
}
