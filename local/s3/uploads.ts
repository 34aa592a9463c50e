import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onDisk } from '../disk/disk.ts';
import type { Algorithm, Checksum } from './checksum.ts';
import type { Segment } from './objects.ts';

export interface UploadFacts {
  readonly id: string;
  readonly key: string;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly algorithm?: Algorithm | undefined;
  /** Milliseconds since the epoch. */
  readonly initiatedAt: number;
}

export interface Part extends Segment {
  readonly number: number;
  /** Of the body, in hex. */
  readonly md5: string;
  readonly checksum?: Checksum | undefined;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
}

export interface Upload extends UploadFacts {
  /** The file of the bucket with the bytes of all parts. The object refers to it, too: nothing is copied at the end. */
  readonly file: string;
  readonly parts: ReadonlyMap<number, Part>;
}

interface Kept extends Upload {
  readonly parts: Map<number, Part>;
  /** Where the next part begins. */
  end: number;
}

const UPLOAD = '.upload';

/** The uploads of one bucket that are under way: a file for each, a line with its facts, then a line for each part. */
export type Uploads = ReturnType<typeof openUploads>;

export function openUploads(folder: string) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const pathOf = (id: string) => join(folder, `${id}${UPLOAD}`);
  const known = new Map(
    readdirSync(folder)
      .filter((name) => name.endsWith(UPLOAD))
      .flatMap((name) => readUpload(join(folder, name)))
      .map((upload) => [upload.id, upload]),
  );
  return {
    all: (): readonly Upload[] => [...known.values()],
    find: (id: string): Upload | undefined => known.get(id),
    begin(facts: Omit<UploadFacts, 'id'>): Upload {
      const upload = kept({ ...facts, id: randomBytes(32).toString('base64url') });
      const { parts: _parts, end: _end, file: _file, ...line } = upload;
      onDisk(folder, () => writeFileSync(pathOf(upload.id), `${JSON.stringify(line)}\n`, { mode: 0o600, flag: 'wx' }));
      known.set(upload.id, upload);
      return upload;
    },
    /** Reserves room for a part; parts arrive at the same time. Returns where it begins. */
    reserve(id: string, bytes: number): number {
      const upload = known.get(id);
      const at = upload?.end ?? 0;
      if (upload) upload.end += bytes;
      return at;
    },
    /** Adds a part, in place of an older one with its number. */
    add(id: string, part: Part): void {
      known.get(id)?.parts.set(part.number, part);
      onDisk(folder, () => appendFileSync(pathOf(id), `${JSON.stringify(part)}\n`));
    },
    /** Forgets an upload; its bytes stay. */
    end(id: string): void {
      known.delete(id);
      rmSync(pathOf(id), { force: true });
    },
  };
}

const kept = (facts: UploadFacts): Kept => ({ ...facts, file: `${facts.id}.bytes`, parts: new Map(), end: 0 });

/** Reads an upload. A last line without its end was not answered: the process died while it wrote it. */
function readUpload(path: string): Kept[] {
  const [first, ...lines] = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  if (first === undefined) return [];
  const upload = kept(JSON.parse(first) as UploadFacts);
  for (const line of lines) {
    const part = JSON.parse(line) as Part;
    upload.parts.set(part.number, part);
    upload.end = Math.max(upload.end, part.at + part.bytes);
  }
  return [upload];
}
