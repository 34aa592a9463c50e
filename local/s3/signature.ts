import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { AwsError } from '../aws-error.ts';
import { SECRET_ACCESS_KEY } from '../iam/secret-access-key.ts';
import type { RestHead } from '../wire/types.ts';
import { parametersOf } from './operations.ts';

/** Seven days (docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html). */
const MAX_EXPIRES_S = 604_800;
/** As for RequestTimeTooSkewed (docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html). */
const MAX_AHEAD_MS = 900_000;

const NEEDED = ['Algorithm', 'Credential', 'Signature', 'Date', 'SignedHeaders', 'Expires'] as const;
const SIGNATURE = 'X-Amz-Signature';

/**
 * Verifies a presigned URL, and turns what it signs in its query into headers, as S3 does.
 * @throws AwsError in the words of S3
 */
export function verifyPresigned(request: RestHead, region: string, now: number): Record<string, string> {
  const { authorization: ArgumentValue } = request.headers;
  if (ArgumentValue !== undefined) {
    const message =
      'Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string parameter or ' +
      'the Authorization header should be specified';
    throw new AwsError('InvalidArgument', message, 400, { ArgumentName: 'Authorization', ArgumentValue });
  }
  const parameters = parametersOf(request);
  const given = Object.fromEntries(NEEDED.map((name) => [name, parameters.get(`X-Amz-${name}`) ?? '']));
  const { Algorithm, Credential = '', Signature = '', Date: date = '', SignedHeaders = '', Expires = '' } = given;
  if (Object.values(given).includes('')) {
    throw malformed(
      'Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, ' +
        'X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.',
    );
  }
  if (Algorithm !== 'AWS4-HMAC-SHA256') throw malformed('X-Amz-Algorithm only supports "AWS4-HMAC-SHA256"');
  const [, day, place, service, end] = /^[^/]+\/(\d{8})\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(Credential) ?? [];
  const [, ...time] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date) ?? [];
  if (day === undefined || service !== 's3' || end !== 'aws4_request' || time.length === 0 || !date.startsWith(day)) {
    throw malformed(
      'Error parsing the X-Amz-Credential parameter; the Credential is mal-formed, or its date is wrong.',
    );
  }
  if (place !== region) {
    throw malformed(
      `Error parsing the X-Amz-Credential parameter; the region '${place}' is wrong; expecting '${region}'`,
    );
  }
  if (!/^-?\d+$/.test(Expires)) throw malformed('X-Amz-Expires should be a number');
  if (Number(Expires) < 0) throw malformed('X-Amz-Expires must be non-negative');
  if (Number(Expires) > MAX_EXPIRES_S) {
    throw malformed(
      'X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires must be less than 604800 seconds',
    );
  }
  const [year = 0, month = 1, ...rest] = time.map(Number);
  const signedAt = Date.UTC(year, month - 1, ...rest);
  if (signedAt > now + MAX_AHEAD_MS) throw denied('Request is not valid yet', { ServerTime: isoOf(now) });
  const expiresAt = signedAt + Number(Expires) * 1_000;
  if (now >= expiresAt) {
    const details = { 'X-Amz-Expires': Expires, Expires: isoOf(expiresAt), ServerTime: isoOf(now) };
    throw denied('Request has expired', details);
  }

  const signed = SignedHeaders.split(';');
  const unsigned = Object.keys(request.headers).filter((name) => name.startsWith('x-amz-') && !signed.includes(name));
  if (!signed.includes('host') || unsigned.length > 0) {
    const HeadersNotSigned = (unsigned.length > 0 ? unsigned : ['host']).join(', ');
    throw denied('There were headers present in the request which were not signed', { HeadersNotSigned });
  }
  const scope = `${day}/${place}/s3/aws4_request`;
  const canonical = hash(canonicalOf(request, parameters, signed));
  const key = [day, place, 's3', 'aws4_request'].reduce<Buffer>(hmac, Buffer.from(`AWS4${SECRET_ACCESS_KEY}`));
  const expected = hmac(key, `AWS4-HMAC-SHA256\n${date}\n${scope}\n${canonical}`);
  const actual = Buffer.from(Signature, 'hex');
  if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) {
    const message =
      'The request signature we calculated does not match the signature you provided. Check your key and signing method.';
    throw new AwsError('SignatureDoesNotMatch', message, 403);
  }
  const hoisted = [...parameters].map(([name, value]) => [name.toLowerCase(), value] as const);
  const headers = hoisted.filter(([name]) => name.startsWith('x-amz-') && !OF_QUERY.has(name));
  return { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD', ...Object.fromEntries(headers), ...request.headers };
}

const OF_QUERY = new Set(NEEDED.map((name) => `x-amz-${name.toLowerCase()}`));

function canonicalOf(
  { method, path, headers }: RestHead,
  parameters: URLSearchParams,
  signed: readonly string[],
): string {
  const query = [...parameters]
    .filter(([name]) => name !== SIGNATURE)
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort();
  const lines = signed.map((name) => `${name}:${(headers[name] ?? '').trim().replace(/ +/g, ' ')}\n`);
  const sent = parameters.get('X-Amz-Content-Sha256') ?? headers['x-amz-content-sha256'] ?? 'UNSIGNED-PAYLOAD';
  const resource = encoded(decodeURIComponent(path.split('?')[0] ?? '')).replaceAll('%2F', '/');
  return [method, resource, query.join('&'), lines.join(''), signed.join(';'), sent].join('\n');
}

const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
const hash = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const isoOf = (time: number) => new Date(time).toISOString().replace(/\.\d+/, '');
const malformed = (message: string) => new AwsError('AuthorizationQueryParametersError', message);
const denied = (message: string, details: Record<string, string>) =>
  new AwsError('AccessDenied', message, 403, details);
