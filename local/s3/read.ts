import { AwsError } from '../aws-error.ts';
import type { RestHead, WireResponse } from '../wire/types.ts';
import type { Bucket } from './bucket.ts';
import { checksumHeaders } from './checksum.ts';
import type { ObjectFacts } from './objects.ts';
import { type ObjectPath, parametersOf } from './operations.ts';

export function getObject({ key }: ObjectPath, { objects }: Bucket, request: RestHead): WireResponse {
  const facts = existing(key, objects.find(key));
  const headers = { ...headersOf(facts), ...overridesOf(request) };
  if (isUnchanged(facts, request)) return { status: 304, headers: { etag: facts.etag }, body: '' };
  const range = rangeOf(facts, request);
  const [start, end] = range ?? [0, facts.bytes];
  const content = { body: '', ...(request.method === 'GET' && { stream: objects.read(facts, start, end) }) };
  const length = { 'content-length': String(end - start) };
  if (range) {
    const contentRange = { 'content-range': `bytes ${start}-${end - 1}/${facts.bytes}` };
    return { status: 206, headers: { ...headers, ...length, ...contentRange }, ...content };
  }
  const isAsked = request.headers['x-amz-checksum-mode']?.toUpperCase() === 'ENABLED';
  const checksum = isAsked && facts.checksum ? checksumHeaders(facts.checksum) : {};
  return { status: 200, headers: { ...headers, ...length, ...checksum }, ...content };
}

function existing(Key: string, facts: ObjectFacts | undefined): ObjectFacts {
  if (!facts) throw new AwsError('NoSuchKey', 'The specified key does not exist.', 404, { Key });
  return facts;
}

function headersOf({ type, etag, modifiedAt, headers }: ObjectFacts): Record<string, string> {
  const modified = new Date(modifiedAt).toUTCString();
  return { ...headers, 'content-type': type, etag, 'last-modified': modified, 'accept-ranges': 'bytes' };
}

/** What the request wants in place of the headers of the object. */
function overridesOf(request: RestHead): Record<string, string> {
  const wanted = [...parametersOf(request)].filter(([name]) => name.startsWith('response-'));
  for (const [ArgumentName, ArgumentValue] of wanted) {
    if (!/[^\t\x20-\x7e\xa0-\xff]/.test(ArgumentValue)) continue;
    const message = 'Header value cannot be represented using ISO-8859-1.';
    throw new AwsError('InvalidArgument', message, 400, { ArgumentName, ArgumentValue });
  }
  return Object.fromEntries(wanted.map(([name, value]) => [name.slice('response-'.length), value]));
}

/** Judges conditions in the order of the API reference of GetObject: a tag counts before a time. */
function isUnchanged({ etag, modifiedAt }: ObjectFacts, { headers }: RestHead): boolean {
  const has = (tags: string) => tags === '*' || tags.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
  const since = (header: string) => Math.floor(modifiedAt / 1_000) * 1_000 > Date.parse(header);
  const { 'if-match': match, 'if-none-match': noneMatch } = headers;
  const { 'if-modified-since': modifiedSince, 'if-unmodified-since': unmodifiedSince } = headers;
  const failed = match === undefined ? unmodifiedSince !== undefined && since(unmodifiedSince) : !has(match);
  if (failed) {
    const Condition = match === undefined ? 'If-Unmodified-Since' : 'If-Match';
    const message = 'At least one of the pre-conditions you specified did not hold';
    throw new AwsError('PreconditionFailed', message, 412, { Condition });
  }
  if (noneMatch !== undefined) return has(noneMatch);
  return modifiedSince !== undefined && Number.isFinite(Date.parse(modifiedSince)) && !since(modifiedSince);
}

/**
 * The bytes that are asked for, from the first to before the last. Undefined means all: S3 ignores a range that it cannot
 * read, and several ranges ("Amazon S3 doesn't support retrieving multiple ranges", API reference of GetObject).
 */
function rangeOf(
  { bytes, etag, modifiedAt }: ObjectFacts,
  { headers }: RestHead,
): readonly [number, number] | undefined {
  const { range = '', 'if-range': unless } = headers;
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/i.exec(range.trim()) ?? [];
  if (first === '' && last === '') return undefined;
  if (unless !== undefined && unless !== etag && unless !== new Date(modifiedAt).toUTCString()) return undefined;
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined;
  const start = first === '' ? Math.max(bytes - Number(last), 0) : Number(first);
  const end = first === '' || last === '' ? bytes : Math.min(Number(last) + 1, bytes);
  if (start < end) return [start, end];
  const details = { RangeRequested: range, ActualObjectSize: bytes };
  throw new AwsError('InvalidRange', 'The requested range is not satisfiable', 416, details);
}
