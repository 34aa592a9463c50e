import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { AwsError } from '../aws-error.ts';

/** The checksums that are verified and kept here, of those that S3 knows. The official clients send CRC32 by default. */
export const ALGORITHMS = ['CRC32', 'SHA1', 'SHA256'] as const;
export type Algorithm = (typeof ALGORITHMS)[number];

export interface Checksum {
  readonly algorithm: Algorithm;
  /** In base64; of a composite one with `-` and the number of parts. */
  readonly value: string;
  readonly composite?: true;
}

interface Digest {
  update(piece: Buffer): void;
  digest(): Buffer;
}

export function digestOf(algorithm: Algorithm | 'MD5'): Digest {
  if (algorithm !== 'CRC32') {
    const hash = createHash(algorithm.toLowerCase());
    return { update: (piece) => void hash.update(piece), digest: () => hash.digest() };
  }
  let value = 0;
  return {
    update(piece) {
      value = crc32(piece, value);
    },
    digest() {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(value);
      return bytes;
    },
  };
}

/** The checksum of an object in parts: of the checksums of its parts. */
export function compositeOf(algorithm: Algorithm, parts: readonly string[]): Checksum {
  const digest = digestOf(algorithm);
  for (const part of parts) digest.update(Buffer.from(part, 'base64'));
  return { algorithm, value: `${digest.digest().toString('base64')}-${parts.length}`, composite: true };
}

export const headerOf = (algorithm: Algorithm): string => `x-amz-checksum-${algorithm.toLowerCase()}`;
export const memberOf = (algorithm: Algorithm): string => `Checksum${algorithm}`;

/** @throws AwsError for an algorithm that is not known here */
export function algorithmOf(name: string): Algorithm {
  const found = ALGORITHMS.find((one) => one === name.toUpperCase());
  if (found) return found;
  throw new AwsError('NotImplemented', `the embedded cloud does not know the checksum ${name} of S3`, 501);
}

export const checksumHeaders = ({ algorithm, value, composite }: Checksum): Record<string, string> => ({
  [headerOf(algorithm)]: value,
  'x-amz-checksum-type': composite ? 'COMPOSITE' : 'FULL_OBJECT',
});

export const checksumMembers = ({ algorithm, value, composite }: Checksum): Record<string, string> => ({
  [memberOf(algorithm)]: value,
  ChecksumType: composite ? 'COMPOSITE' : 'FULL_OBJECT',
});
