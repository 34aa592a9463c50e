import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cloud, startCloud } from '../../cloud.ts';
import { adminRole, functionResource, writeAssembly } from '../fixture.ts';

const arnOf = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] });
const url = (more: object = {}) => ({
  Type: 'AWS::Lambda::Url',
  Properties: { TargetFunctionArn: arnOf('Page'), AuthType: 'NONE', ...more },
});
const urlOf = (id: string) => ({ 'Fn::GetAtt': [id, 'FunctionUrl'] });
const fn = (more: object = {}) => functionResource('code', { Role: arnOf('Role'), ...more });
const resources = {
  Role: adminRole('lambda'),
  Page: fn(),
  Url: url(),
  Mail: fn({ Environment: { Variables: { LINK: { 'Fn::Join': ['', [urlOf('Url'), 'approve?id=1']] } } } }),
};
const code = `export const handler = async (event) => {
  if (event.version === undefined) return process.env.LINK;
  if (event.rawPath === '/throws') throw new Error('secret');
  if (event.rawPath === '/plain') return { approved: true };
  if (event.rawPath === '/page') return {
    statusCode: 201, headers: { 'Content-Type': 'text/html' }, cookies: ['a=1', 'b=2'],
    body: Buffer.from('<b>ü</b>').toString('base64'), isBase64Encoded: true,
  };
  return { statusCode: 200, body: JSON.stringify(event) };
};`;

let cloud: Cloud;
let link = '';
beforeAll(async () => {
  const Outputs = { Link: { Value: urlOf('Url') } };
  cloud = await startCloud({ assembly: writeAssembly({ resources, assets: { code }, more: { Outputs } }) });
  link = cloud.outputs.Link ?? '';
});
afterAll(() => cloud?.stop());

describe('a function URL', () => {
  test('is a local one for functions and outputs', async () => {
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    expect(JSON.parse((await cloud.lambda.invoke('Test-Mail', '{}')).payload)).toBe(`${link}approve?id=1`);
  });

  test('gives the function the event of the payload format 2.0', async () => {
    const headers = { cookie: 'a=1; b=2', 'x-one': '1' };
    const answer = await fetch(`${link}approve/it?id=1&id=2&e=`, { method: 'POST', headers, body: 'yes=ü' });
    expect(await answer.json()).toMatchObject({
      ...{ version: '2.0', routeKey: '$default', rawPath: '/approve/it', rawQueryString: 'id=1&id=2&e=' },
      cookies: ['a=1', 'b=2'],
      headers: { 'x-one': '1' },
      queryStringParameters: { id: '1,2', e: '' },
      requestContext: { http: { method: 'POST', path: '/approve/it', sourceIp: '127.0.0.1' }, stage: '$default' },
      body: 'yes=ü',
      isBase64Encoded: false,
    });
    const bytes = await (await fetch(link, { method: 'POST', body: new Uint8Array([255, 0]) })).json();
    expect(bytes).toMatchObject({ body: '/wA=', isBase64Encoded: true });
  });

  test('answers as the function says, or with its result as JSON', async () => {
    const page = await fetch(`${link}page`);
    expect([page.status, page.headers.get('content-type'), page.headers.getSetCookie(), await page.text()]).toEqual([
      ...[201, 'text/html', ['a=1', 'b=2'], '<b>ü</b>'],
    ]);
    const plain = await fetch(`${link}plain`);
    expect([plain.status, await plain.json()]).toEqual([200, { approved: true }]);
  });

  test('answers 502 without a word of an error, and 413 above 6 MB', async () => {
    const failed = await fetch(`${link}throws`);
    expect([failed.status, await failed.text()]).toEqual([502, 'Internal Server Error']);
    const large = await fetch(link, { method: 'POST', body: new Uint8Array(6 * 1024 * 1024 + 1) });
    expect(large.status).toBe(413);
  });
});

test.each([
  ['AWS_IAM', url({ AuthType: 'AWS_IAM' }), 'AuthType "AWS_IAM"'],
  ['RESPONSE_STREAM', url({ InvokeMode: 'RESPONSE_STREAM' }), 'InvokeMode "RESPONSE_STREAM"'],
])('a function URL with %s is refused by name', async (_what, Url, why) => {
  const assembly = writeAssembly({ resources: { ...resources, Url }, assets: { code } });
  await expect(startCloud({ assembly })).rejects.toThrow(why);
});
