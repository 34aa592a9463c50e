import { createHash } from 'node:crypto';
import { AwsError } from '../aws-error.ts';
import type { RestHead, StreamedRequest, WireResponse } from '../wire/types.ts';
import { lengthOf, receive } from './body.ts';
import type { Bucket } from './bucket.ts';
import { algorithmOf, checksumHeaders, checksumMembers, compositeOf, memberOf } from './checksum.ts';
import { joined } from './objects.ts';
import { type ObjectPath, parametersOf } from './operations.ts';
import type { Part, Upload } from './uploads.ts';
import { checkAbsent, keptHeaders } from './write.ts';
import { textsOf, unescaped, xmlAnswer } from './xml.ts';

// docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html
const MAX_PART_NUMBER = 10_000;
const MIN_PART_BYTES = 5 * 1024 ** 2;
/** More than a list of 10,000 parts with their checksums. */
const MAX_LIST_BYTES = 4 * 1024 ** 2;

export function createMultipartUpload(
  { bucket: Bucket, key: Key }: ObjectPath,
  { uploads }: Bucket,
  request: RestHead,
  now: () => number,
): WireResponse {
  const { 'x-amz-checksum-algorithm': named, 'x-amz-checksum-type': type = 'COMPOSITE' } = request.headers;
  if (type !== 'COMPOSITE') {
    throw new AwsError('NotImplemented', `the embedded cloud does not know the checksum type ${type} of S3`, 501);
  }
  const algorithm = named === undefined ? undefined : algorithmOf(named);
  const { id: UploadId } = uploads.begin({ key: Key, ...keptHeaders(request), algorithm, initiatedAt: now() });
  const answer = xmlAnswer('InitiateMultipartUploadResult', { Bucket, Key, UploadId });
  const headers = algorithm && { 'x-amz-checksum-algorithm': algorithm, 'x-amz-checksum-type': type };
  return { ...answer, headers: { ...answer.headers, ...headers } };
}

export async function uploadPart(
  { key }: ObjectPath,
  { objects, uploads }: Bucket,
  request: StreamedRequest,
  now: () => number,
): Promise<WireResponse> {
  const number = partNumberOf(request);
  const { id, file, algorithm } = uploadOf(key, uploads.find(uploadIdOf(request)));
  const at = uploads.reserve(id, lengthOf(request));
  const receiver = objects.receiver(file);
  try {
    let end = at;
    const { bytes, md5, checksum } = await receive(request, (piece) => {
      receiver.write(piece, end);
      end += piece.length;
    });
    if (checksum?.algorithm !== algorithm && checksum !== undefined) {
      const types = `expected checksum Type: ${algorithm?.toLowerCase() ?? null}, actual checksum Type: ${checksum.algorithm.toLowerCase()}`;
      throw new AwsError('InvalidRequest', `Checksum Type mismatch occurred, ${types}`);
    }
    // The upload may be over by now.
    uploadOf(key, uploads.find(id));
    uploads.add(id, { number, at, bytes, md5, checksum, modifiedAt: now() });
    return { status: 200, headers: { etag: `"${md5}"`, ...(checksum && checksumHeaders(checksum)) }, body: '' };
  } finally {
    receiver.close();
  }
}

export async function completeMultipartUpload(
  { bucket: Bucket, key: Key }: ObjectPath,
  { objects, uploads }: Bucket,
  request: StreamedRequest,
): Promise<WireResponse> {
  const listed = await listOf(request);
  const upload = uploadOf(Key, uploads.find(uploadIdOf(request)));
  const parts = listed.map((one, index) => {
    const before = listed[index - 1];
    if (before && before.number >= one.number) {
      const message = 'The list of parts was not in ascending order. Parts must be ordered by part number.';
      throw new AwsError('InvalidPartOrder', message, 400, { UploadId: upload.id });
    }
    return partOf(upload, one);
  });
  for (const { bytes, number, md5 } of parts.slice(0, -1)) {
    if (bytes >= MIN_PART_BYTES) continue;
    const message = 'Your proposed upload is smaller than the minimum allowed size';
    const details = { ETag: md5, MinSizeAllowed: MIN_PART_BYTES, ProposedSize: bytes, PartNumber: number };
    throw new AwsError('EntityTooSmall', message, 400, details);
  }
  checkAbsent(Key, objects, request);
  const { algorithm, type, headers, initiatedAt, file } = upload;
  const checksum =
    algorithm &&
    compositeOf(
      algorithm,
      parts.map((part) => part.checksum?.value ?? ''),
    );
  const md5 = createHash('md5');
  for (const part of parts) md5.update(part.md5, 'hex');
  const etag = `"${md5.digest('hex')}-${parts.length}"`;
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  const content = { file, segments: joined(parts.map((part) => ({ at: part.at, bytes: part.bytes }))) };
  // An object in parts has the date of its beginning (docs.aws.amazon.com/AmazonS3/latest/userguide/UsingMetadata.html).
  objects.commit({ key: Key, type, headers, etag, bytes, modifiedAt: initiatedAt, checksum, content });
  uploads.end(upload.id);
  const Location = `http://${request.headers.host}/${Bucket}/${encodeURIComponent(Key)}`;
  const ETag = etag;
  return xmlAnswer('CompleteMultipartUploadResult', {
    Location,
    Bucket,
    Key,
    ETag,
    ...(checksum && checksumMembers(checksum)),
  });
}

export function abortMultipartUpload({ key }: ObjectPath, bucket: Bucket, request: RestHead): WireResponse {
  endUpload(bucket, uploadOf(key, bucket.uploads.find(uploadIdOf(request))));
  return { status: 204, body: '' };
}

/** Forgets an upload, and frees the room of its parts. */
export function endUpload({ objects, uploads }: Bucket, { id, file }: Upload): void {
  uploads.end(id);
  objects.drop(file);
}

const uploadIdOf = (request: RestHead): string => parametersOf(request).get('uploadId') ?? '';

function uploadOf(key: string, upload: Upload | undefined): Upload {
  if (upload?.key === key) return upload;
  const message =
    'The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.';
  throw new AwsError('NoSuchUpload', message, 404);
}

function partNumberOf(request: RestHead): number {
  const ArgumentValue = parametersOf(request).get('partNumber') ?? '';
  const number = /^\d{1,9}$/.test(ArgumentValue) ? Number(ArgumentValue) : 0;
  if (number >= 1 && number <= MAX_PART_NUMBER) return number;
  const message = `Part number must be an integer between 1 and ${MAX_PART_NUMBER}, inclusive`;
  throw new AwsError('InvalidArgument', message, 400, { ArgumentName: 'partNumber', ArgumentValue });
}

interface Listed {
  readonly number: number;
  readonly etag: string;
  readonly xml: string;
}

/** Reads the list of parts with which an upload is completed. */
async function listOf(request: StreamedRequest): Promise<Listed[]> {
  const pieces: Buffer[] = [];
  if (lengthOf(request) > MAX_LIST_BYTES) throw malformed();
  await receive(request, (piece) => void pieces.push(piece));
  const [list = ''] = textsOf('CompleteMultipartUpload', Buffer.concat(pieces).toString('utf8'));
  const listed = textsOf('Part', list).map((xml) => {
    const [number = ''] = textsOf('PartNumber', xml);
    const [etag] = textsOf('ETag', xml);
    if (!/^\d{1,9}$/.test(number) || etag === undefined) throw malformed();
    return { number: Number(number), etag: unescaped(etag).replaceAll('"', ''), xml };
  });
  if (listed.length === 0 || listed.length > MAX_PART_NUMBER) throw malformed();
  return listed;
}

const malformed = () =>
  new AwsError(
    'MalformedXML',
    'The XML you provided was not well-formed or did not validate against our published schema',
  );

function partOf({ id: UploadId, parts, algorithm }: Upload, { number, etag, xml }: Listed): Part {
  const part = parts.get(number);
  const [checksum] = algorithm ? textsOf(memberOf(algorithm), xml) : [];
  if (algorithm && checksum === undefined) {
    const message =
      `The upload was created using a ${algorithm.toLowerCase()} checksum. The complete request must include the ` +
      `checksum for each part. It was missing for part ${number} in the request.`;
    throw new AwsError('InvalidRequest', message);
  }
  if (part?.md5 === etag && (checksum === undefined || part.checksum?.value === unescaped(checksum))) return part;
  const message =
    'One or more of the specified parts could not be found.  The part may not have been uploaded, or the specified ' +
    "entity tag may not match the part's entity tag.";
  throw new AwsError('InvalidPart', message, 400, { UploadId, PartNumber: number, ETag: etag });
}

/** The most parts, or uploads, that one request lists (the same page). */
const MAX_LISTED = 1_000;

export function listParts(
  { bucket: Bucket, key: Key }: ObjectPath,
  { uploads }: Bucket,
  request: RestHead,
): WireResponse {
  const { id: UploadId, parts, algorithm } = uploadOf(Key, uploads.find(uploadIdOf(request)));
  const PartNumberMarker = numberOf(request, 'part-number-marker', 0);
  const MaxParts = Math.min(numberOf(request, 'max-parts', MAX_LISTED), MAX_LISTED);
  const left = [...parts.values()]
    .filter(({ number }) => number > PartNumberMarker)
    .sort((a, b) => a.number - b.number);
  const page = left.slice(0, MaxParts);
  return xmlAnswer('ListPartsResult', {
    Bucket,
    Key,
    UploadId,
    StorageClass: 'STANDARD',
    PartNumberMarker,
    NextPartNumberMarker: page.at(-1)?.number ?? 0,
    MaxParts,
    IsTruncated: left.length > page.length,
    ...(algorithm && { ChecksumAlgorithm: algorithm, ChecksumType: 'COMPOSITE' }),
    Part: page.map(({ number: PartNumber, md5, bytes: Size, checksum, modifiedAt }) => ({
      PartNumber,
      LastModified: new Date(modifiedAt).toISOString(),
      ETag: `"${md5}"`,
      Size,
      ...(checksum && { [memberOf(checksum.algorithm)]: checksum.value }),
    })),
  });
}

export function listMultipartUploads(
  { bucket: Bucket }: ObjectPath,
  { uploads }: Bucket,
  request: RestHead,
): WireResponse {
  const parameters = parametersOf(request);
  const MaxUploads = Math.min(numberOf(request, 'max-uploads', MAX_LISTED), MAX_LISTED);
  const Prefix = parameters.get('prefix') ?? '';
  const KeyMarker = parameters.get('key-marker') ?? '';
  const UploadIdMarker = parameters.get('upload-id-marker') ?? '';
  const all = uploads
    .all()
    .filter(({ key }) => key.startsWith(Prefix))
    .sort(byKeyThenTime);
  const marked = all.find(({ id, key }) => key === KeyMarker && id === UploadIdMarker);
  const left = marked ? all.slice(all.indexOf(marked) + 1) : all.filter(({ key }) => isAfter(key, KeyMarker));
  const page = left.slice(0, MaxUploads);
  const IsTruncated = left.length > page.length;
  const last = page.at(-1);
  return xmlAnswer('ListMultipartUploadsResult', {
    Bucket,
    KeyMarker,
    UploadIdMarker,
    ...(IsTruncated && last && { NextKeyMarker: last.key, NextUploadIdMarker: last.id }),
    Prefix,
    MaxUploads,
    IsTruncated,
    Upload: page.map(({ key: Key, id: UploadId, initiatedAt, algorithm }) => ({
      Key,
      UploadId,
      StorageClass: 'STANDARD',
      Initiated: new Date(initiatedAt).toISOString(),
      ...(algorithm && { ChecksumAlgorithm: algorithm, ChecksumType: 'COMPOSITE' }),
    })),
  });
}

const isAfter = (key: string, marker: string) => Buffer.compare(Buffer.from(key), Buffer.from(marker)) > 0;
const byKeyThenTime = (a: Upload, b: Upload) =>
  Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)) || a.initiatedAt - b.initiatedAt;

function numberOf(request: RestHead, ArgumentName: string, otherwise: number): number {
  const ArgumentValue = parametersOf(request).get(ArgumentName);
  if (ArgumentValue === null) return otherwise;
  if (/^\d{1,9}$/.test(ArgumentValue)) return Number(ArgumentValue);
  const message = `Provided ${ArgumentName} not an integer or within integer range`;
  throw new AwsError('InvalidArgument', message, 400, { ArgumentName, ArgumentValue });
}
