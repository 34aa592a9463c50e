import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cloud, startCloud } from '../../cloud.ts';
import { adminRole, functionResource } from '../fixture.ts';
import { Bucket, codeOf, DAY, filesAssembly, type Presign, presign, refusal, send } from './support.ts';

const AT = Date.UTC(2026, 0, 1, 12);
const PATH = `/${Bucket}/a%20film/k%C3%A9y%28%271%27%29%2A.mp4`;
const role = (action: string) => {
  const statement = { Effect: 'Allow', Action: action, Resource: `arn:aws:s3:::${Bucket}/*` };
  const more = { Policies: [{ PolicyName: 'P', PolicyDocument: { Statement: statement } }] };
  const made = adminRole('lambda') as { Type: string; Properties: object };
  return { ...made, Properties: { ...made.Properties, ...more } };
};
const withRole = (name: string) => functionResource('code', { Role: { 'Fn::GetAtt': [name, 'Arn'] } });
const assembly = filesAssembly(
  {
    Reads: withRole('ReadsRole'),
    ReadsRole: role('s3:GetObject'),
    Writes: withRole('WritesRole'),
    WritesRole: role('s3:PutObject'),
  },
  { code: 'export const handler = async () => 1;' },
);
let now = AT;
let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud({ assembly, now: () => now });
  await send(cloud, 'PUT', PATH, { 'content-type': 'video/mp4' }, Buffer.from('0123456789'));
});
afterAll(() => cloud?.stop());
const url = (options: Partial<Presign> = {}) => presign(cloud, PATH, { at: AT, ...options });

test('a presigned URL needs nothing else: whole, by range, or its head', async () => {
  const answer = await fetch(await url());
  expect([answer.status, await answer.text(), answer.headers.get('content-type')]).toEqual([
    200,
    '0123456789',
    'video/mp4',
  ]);
  const part = await fetch(await url(), { headers: { range: 'bytes=2-3' } });
  expect([part.status, await part.text()]).toEqual([206, '23']);
  const head = await fetch(await url({ method: 'HEAD' }), { method: 'HEAD' });
  expect([head.status, head.headers.get('content-length')]).toEqual([200, '10']);
});

test('it says what the answer calls itself', async () => {
  const query = {
    'response-content-disposition': 'attachment; filename="a b.mp4"',
    'response-content-type': 'text/plain',
    'x-id': 'GetObject',
  };
  const { headers } = await fetch(await url({ query }));
  expect(headers.get('content-disposition')).toBe('attachment; filename="a b.mp4"');
  expect(headers.get('content-type')).toBe('text/plain');
  const broken = await fetch(await url({ query: { 'response-content-type': 'a\r\nb: c' } }));
  expect(await codeOf(broken)).toEqual([400, 'InvalidArgument']);
});

test('a presigned PUT takes a body, with the headers that it signs', async () => {
  const signed = await presign(cloud, `/${Bucket}/put`, {
    at: AT,
    method: 'PUT',
    headers: { 'content-md5': 'XUFAKrxLKna5cZ2REBfFkg==' },
  });
  const put = (body: string) =>
    fetch(signed, { method: 'PUT', body, headers: { 'content-md5': 'XUFAKrxLKna5cZ2REBfFkg==' } });
  expect((await put('hello')).status).toBe(200);
  expect(await codeOf(await put('other'))).toEqual([400, 'BadDigest']);
  expect(await (await send(cloud, 'GET', `/${Bucket}/put`)).text()).toBe('hello');
});

test('a checksum in the query counts as a header', async () => {
  const query = { 'x-amz-checksum-crc32': 'AAAAAA==' };
  const signed = await presign(cloud, `/${Bucket}/sum`, { at: AT, method: 'PUT', query });
  expect(await codeOf(await fetch(signed, { method: 'PUT', body: 'x' }))).toEqual([400, 'BadDigest']);
});

test('it ends by the clock of the cloud, and does not begin before its time', async () => {
  const signed = await url({ expiresIn: 60 });
  now = AT + 59_999;
  expect((await fetch(signed)).status).toBe(200);
  now = AT + 60_000;
  expect(await refusal(await fetch(signed))).toEqual([403, 'AccessDenied', 'Request has expired']);
  now = AT - 900_001;
  expect(await refusal(await fetch(signed))).toEqual([403, 'AccessDenied', 'Request is not valid yet']);
  now = AT;
});

const MISMATCH = [403, 'SignatureDoesNotMatch'] as const;
const MALFORMED = [400, 'AuthorizationQueryParametersError'] as const;
const CHANGES: [what: string, change: (url: string) => string, expected: readonly [number, string]][] = [
  ['another key', (text) => text.replace('a%20film', 'a%20fiLm'), MISMATCH],
  ['a longer life', (text) => text.replace('Expires=300', 'Expires=301'), MISMATCH],
  ['another parameter', (text) => `${text}&response-content-type=text%2Fhtml`, MISMATCH],
  ['another signature', (text) => text.replace(/Signature=.{4}/, 'Signature=0000'), MISMATCH],
  ['half a signature', (text) => text.replace(/(Signature=.{4})[\da-f]*/, '$1'), MISMATCH],
  ['another signer', (text) => text.replace('Credential=test', 'Credential=other'), MISMATCH],
  ['no signature', (text) => text.replace(/&?X-Amz-Signature=[\da-f]*/, ''), MALFORMED],
  ['a life of more than a week', (text) => text.replace('Expires=300', 'Expires=604801'), MALFORMED],
  ['a life that is no number', (text) => text.replace('Expires=300', 'Expires=x'), MALFORMED],
  ['another algorithm', (text) => text.replace('AWS4-HMAC-SHA256', 'AWS4-HMAC-SHA1'), MALFORMED],
  ['a date of another day', (text) => text.replace('Date=20260101', 'Date=20260102'), MALFORMED],
];
test.each(CHANGES)('refused: %s', async (_what, change, expected) => {
  const signed = await url();
  expect(change(signed)).not.toBe(signed);
  expect(await codeOf(await fetch(change(signed)))).toEqual(expected);
});

test('refused: another method, another region, a header of Amazon that is not signed', async () => {
  expect(await codeOf(await fetch(await url(), { method: 'DELETE' }))).toEqual(MISMATCH);
  expect(await codeOf(await fetch(await url({ region: 'eu-west-1' })))).toEqual(MALFORMED);
  const unsigned = await fetch(await url(), { headers: { 'x-amz-checksum-mode': 'ENABLED' } });
  expect(await refusal(unsigned)).toEqual([
    403,
    'AccessDenied',
    'There were headers present in the request which were not signed',
  ]);
});

test('refused: two signatures', async () => {
  const authorization = 'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, Signature=x';
  expect(await codeOf(await fetch(await url(), { headers: { authorization } }))).toEqual([400, 'InvalidArgument']);
});

test('it has the rights of its signer', async () => {
  expect((await fetch(await url({ caller: 'Reads' }))).status).toBe(200);
  expect(await codeOf(await fetch(await url({ caller: 'Writes' })))).toEqual([403, 'AccessDenied']);
  const put = (caller: string) => url({ caller, method: 'PUT' });
  const body = '0123456789';
  expect((await fetch(await put('Writes'), { method: 'PUT', body })).status).toBe(200);
  expect(await codeOf(await fetch(await put('Reads'), { method: 'PUT', body }))).toEqual([403, 'AccessDenied']);
});

test('to upload in parts needs s3:PutObject; to list or to abort needs a right of its own', async () => {
  const as = (caller: string, method: string, query: Record<string, string>) =>
    url({ caller, method, query }).then((signed) => fetch(signed, { method }));
  expect((await as('Reads', 'POST', { uploads: '' })).status).toBe(403);
  const begun = await as('Writes', 'POST', { uploads: '' });
  const [, uploadId = ''] = /<UploadId>(.*)<\/UploadId>/.exec(await begun.text()) ?? [];
  expect((await as('Writes', 'PUT', { uploadId, partNumber: '1' })).status).toBe(200);
  expect(await (await as('Writes', 'GET', { uploadId })).text()).toContain('s3:ListMultipartUploadParts');
  expect(await (await as('Writes', 'DELETE', { uploadId })).text()).toContain('s3:AbortMultipartUpload');
});

test('a week is the longest life of a URL', async () => {
  const signed = await url({ at: AT - 7 * DAY + 1_000, expiresIn: 604_800 });
  expect((await fetch(signed)).status).toBe(200);
});
