import { crc32 } from 'node:zlib';

/**
 * The file with the cache of compiled code of one bundle. V8 compares its own version, its flags and its snapshot, but
 * of the source only the length, and of the cache itself nothing. So the file says which bundle and which bytes it is for.
 *
 * Flags change only the first bytes of a cache. The file holds these bytes once for each set of flags, by V8's tag of
 * version and flags, and all other bytes once: 16 bytes (two checksums, the number of rows), the rows, the rest.
 */
const START = 16;
/** How much of the cache is in a row. V8's own head is shorter. */
export const HEAD = 64;
const ROW = 8 + HEAD;

/** A cache holds for one operating system and one architecture (docs/architecture.md, "Cold start"). */
export const cacheName = (platform: string = process.platform, arch: string = process.arch) =>
  `${platform}-${arch}.cache`;

/** @param caches what V8 made of the bundle, by its tag. Throws if they differ in more than their first bytes. */
export function sealed(source: Uint8Array, caches: ReadonlyMap<number, Uint8Array>): Buffer {
  const [first = Buffer.alloc(0)] = caches.values();
  const rest = first.subarray(HEAD);
  if (![...caches.values()].every((cache) => rest.length > 0 && Buffer.compare(cache.subarray(HEAD), rest) === 0)) {
    throw new Error('The caches of one bundle differ in more than their flags');
  }
  const rows = [...caches].map(([tag, cache]) => {
    const row = Buffer.alloc(8);
    row.writeUInt32LE(tag);
    return Buffer.concat([row, cache.subarray(0, HEAD)]);
  });
  const start = Buffer.alloc(START);
  start.writeUInt32LE(rows.length, 8);
  const file = Buffer.concat([start, ...rows, rest]);
  file.writeUInt32LE(crc32(source));
  file.writeUInt32LE(crc32(file.subarray(8)), 4);
  return file;
}

/** The cache in a file, or why it cannot be used. It is a part of `file`, which this changes. */
export function opened(file: Buffer, source: Uint8Array, tag: number): Buffer | 'damaged' | 'source' | 'version' {
  if (file.length < START || crc32(file.subarray(8)) !== file.readUInt32LE(4)) return 'damaged';
  if (crc32(source) !== file.readUInt32LE()) return 'source';
  const rest = START + file.readUInt32LE(8) * ROW;
  for (let row = START; row < rest; row += ROW) {
    if (file.readUInt32LE(row) !== tag) continue;
    file.copyWithin(rest - HEAD, row + 8, row + ROW);
    return file.subarray(rest - HEAD);
  }
  return 'version';
}
