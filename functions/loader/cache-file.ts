import { crc32 } from 'node:zlib';

/**
 * The file with the cache of compiled code of one bundle. V8 compares its own version, its flags and its snapshot, but
 * of the source only the length, and of the cache itself nothing. So the file begins with a checksum of each.
 */
const START = 8;

/** A cache holds for one operating system and one architecture (docs/architecture.md, "Cold start"). */
export const cacheName = (platform: string = process.platform, arch: string = process.arch) =>
  `${platform}-${arch}.cache`;

export function sealed(source: Uint8Array, cache: Uint8Array): Buffer {
  const start = Buffer.alloc(START);
  start.writeUInt32LE(crc32(source));
  start.writeUInt32LE(crc32(cache), 4);
  return Buffer.concat([start, cache]);
}

/** The cache in a file, or why it cannot be used. */
export function opened(file: Buffer, source: Uint8Array): Buffer | 'damaged' | 'source' {
  const cache = file.subarray(START);
  if (cache.length === 0 || crc32(cache) !== file.readUInt32LE(4)) return 'damaged';
  return crc32(source) === file.readUInt32LE() ? cache : 'source';
}
