import { createHash } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { onDisk, replaceFile } from '../disk/disk.ts';

export interface ObjectFacts {
  readonly key: string;
  readonly type: string;
  readonly etag: string;
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
}

/** The objects of one bucket. All methods are synchronous, so requests never interleave. */
export interface Objects {
  all(): readonly ObjectFacts[];
  find(key: string): ObjectFacts | undefined;
  read(key: string): Buffer;
  write(facts: ObjectFacts, body: Buffer): void;
  remove(key: string): void;
}

export function objectsInMemory(): Objects {
  const kept = new Map<string, { facts: ObjectFacts; body: Buffer }>();
  return {
    all: () => [...kept.values()].map(({ facts }) => facts),
    find: (key) => kept.get(key)?.facts,
    read: (key) => kept.get(key)?.body ?? Buffer.alloc(0),
    write: (facts, body) => void kept.set(facts.key, { facts, body }),
    remove: (key) => void kept.delete(key),
  };
}

/** One file per object, named by a digest of its key: a line of JSON with the metadata, then the bytes. */
export function objectsInFolder(folder: string): Objects {
  mkdirSync(folder, { recursive: true });
  const fileOf = (key: string) => join(folder, createHash('sha256').update(key).digest('hex'));
  const known = new Map(
    readdirSync(folder)
      .filter((name) => !name.endsWith('.new'))
      .map((name) => factsIn(join(folder, name)))
      .map((facts) => [facts.key, facts]),
  );
  return {
    all: () => [...known.values()],
    find: (key) => known.get(key),
    read(key) {
      const file = readFileSync(fileOf(key));
      return file.subarray(file.indexOf('\n') + 1);
    },
    write(facts, body) {
      const content = Buffer.concat([Buffer.from(`${JSON.stringify(facts)}\n`), body]);
      onDisk(folder, () => replaceFile(fileOf(facts.key), content));
      known.set(facts.key, facts);
    },
    remove(key) {
      known.delete(key);
      rmSync(fileOf(key), { force: true });
    },
  };
}

/** More than the metadata of an object with the longest key of S3. */
const LONGEST_LINE = 16_384;

function factsIn(path: string): ObjectFacts {
  const file = openSync(path, 'r');
  try {
    const start = Buffer.alloc(LONGEST_LINE);
    const [line = ''] = start.toString('utf8', 0, readSync(file, start)).split('\n');
    return JSON.parse(line) as ObjectFacts;
  } catch (error) {
    throw new Error(`${path} does not hold an object of the embedded S3`, { cause: error });
  } finally {
    closeSync(file);
  }
}
