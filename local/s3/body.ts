import { createHash } from 'node:crypto';
import { AwsError } from '../aws-error.ts';
import type { StreamedRequest } from '../wire/types.ts';
import { ALGORITHMS, type Algorithm, algorithmOf, type Checksum, digestOf, headerOf } from './checksum.ts';
import { unchunked } from './chunked.ts';

/** The most of one PUT (docs.aws.amazon.com/AmazonS3/latest/userguide/upload-objects.html) and of one part (…/userguide/qfacts.html). */
export const MAX_PUT_BYTES = 5 * 1024 ** 3;

/** What a body turned out to be. */
export interface Received {
  readonly bytes: number;
  /** In hex. */
  readonly md5: string;
  /** The one that the client sent, and that fits. */
  readonly checksum?: Checksum | undefined;
}

const CHUNKED = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER';

/**
 * The length of the body, from its headers.
 * @throws AwsError if there is none, or it is more than S3 takes at once
 */
export function lengthOf({ headers }: StreamedRequest): number {
  const length = headers[isChunked(headers) ? 'x-amz-decoded-content-length' : 'content-length'];
  if (length === undefined || !/^\d{1,15}$/.test(length)) {
    throw new AwsError('MissingContentLength', 'You must provide the Content-Length HTTP header.', 411);
  }
  if (Number(length) <= MAX_PUT_BYTES) return Number(length);
  const details = { ProposedSize: length, MaxSizeAllowed: MAX_PUT_BYTES };
  throw new AwsError('EntityTooLarge', 'Your proposed upload exceeds the maximum allowed size', 400, details);
}

/**
 * Passes the body on piece by piece, and checks it: length, hash, checksum.
 * @throws AwsError if it is not what its headers say; then it has been passed on all the same
 */
export async function receive(request: StreamedRequest, write: (piece: Buffer) => void): Promise<Received> {
  const { headers } = request;
  const length = lengthOf(request);
  const sha256 = hashOf(headers);
  const sent = sentChecksum(headers);
  const digests = {
    md5: digestOf('MD5'),
    sha256: sha256 === undefined ? undefined : createHash('sha256'),
    checksum: sent && digestOf(sent.algorithm),
  };
  let { value: expected } = sent ?? {};
  const body = isChunked(headers)
    ? unchunked(request.body, (name, value) => {
        if (sent === undefined || name !== headerOf(sent.algorithm)) {
          throw new AwsError('MalformedTrailerError', 'The request contained trailing data that was not well-formed.');
        }
        expected = value;
      })
    : request.body;
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > length) break;
    digests.md5.update(piece);
    digests.sha256?.update(piece);
    digests.checksum?.update(piece);
    write(piece);
  }
  if (bytes !== length) {
    const message = 'You did not provide the number of bytes specified by the Content-Length HTTP header';
    throw new AwsError('IncompleteBody', message);
  }
  if (digests.sha256 && digests.sha256.digest('hex') !== sha256) {
    throw new AwsError('XAmzContentSHA256Mismatch', "The provided 'x-amz-content-sha256' does not match the body.");
  }
  const md5 = digests.md5.digest();
  const { 'content-md5': contentMd5 = md5.toString('base64') } = headers;
  if (contentMd5 !== md5.toString('base64')) {
    throw new AwsError('BadDigest', 'The Content-MD5 you specified did not match what we received.');
  }
  const received = { bytes, md5: md5.toString('hex') };
  if (!sent || !digests.checksum) return received;
  const value = digests.checksum.digest().toString('base64');
  if (expected !== value) {
    throw new AwsError('BadDigest', `The ${sent.algorithm} you specified did not match the calculated checksum.`);
  }
  return { ...received, checksum: { algorithm: sent.algorithm, value } };
}

const isChunked = (headers: StreamedRequest['headers']) => headers['x-amz-content-sha256'] === CHUNKED;

/** The SHA-256 that the body must have, in hex; undefined if its signature does not cover it. */
function hashOf(headers: StreamedRequest['headers']): string | undefined {
  const sha256 = headers['x-amz-content-sha256'];
  if (sha256 === undefined) {
    throw new AwsError('InvalidRequest', 'Missing required header for this request: x-amz-content-sha256');
  }
  if (sha256.startsWith('STREAMING-') && sha256 !== CHUNKED) {
    throw new AwsError('NotImplemented', `the embedded cloud does not know x-amz-content-sha256 ${sha256}`, 501);
  }
  return sha256 === CHUNKED || sha256 === 'UNSIGNED-PAYLOAD' ? undefined : sha256;
}

/** The checksum that the client sends, as a header or, without a value so far, behind the body. */
function sentChecksum(headers: StreamedRequest['headers']): { algorithm: Algorithm; value?: string } | undefined {
  const trailer = headers['x-amz-trailer'];
  if (trailer !== undefined) {
    if (!isChunked(headers)) throw new AwsError('InvalidRequest', 'x-amz-trailer needs a body of aws-chunked');
    return { algorithm: algorithmOf(trailer.toLowerCase().replace(/^x-amz-checksum-/, '')) };
  }
  const sent = ALGORITHMS.filter((one) => headers[headerOf(one)] !== undefined);
  if (sent.length > 1) {
    throw new AwsError(
      'InvalidRequest',
      'Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.',
    );
  }
  const [algorithm] = sent;
  return algorithm && { algorithm, value: headers[headerOf(algorithm)] ?? '' };
}
