import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { LambdaClient, ListFunctionsCommand } from '@aws-sdk/client-lambda';
import { ListExecutionsCommand, SFNClient } from '@aws-sdk/client-sfn';
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import { afterEach, expect, test } from 'vitest';
import { forwardToAws } from '../../dev/aws-forwarder.ts';
import { readElsewhere } from '../../dev/elsewhere.ts';
import { close, listen } from '../../loopback.ts';

const me = { region: 'eu-central-1', credentials: { accessKeyId: 'MINE', secretAccessKey: 'secret' } };
const tool = { region: 'us-east-1', credentials: { accessKeyId: 'Tool', secretAccessKey: 'local' }, maxAttempts: 1 };
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

/** A server in place of AWS: answers 403 unless the signature is right for `me`. */
async function aws(answer: object) {
  const seen: string[] = [];
  const server = createServer(async (request, response) => {
    const { authorization = '', ...headers } = request.headers as Record<string, string>;
    seen.push(`${request.method} ${request.url} ${authorization.split(', ')[0]}`);
    const [, service = '', names = ''] = /\/([\w-]+)\/aws4_request, SignedHeaders=([^,]+)/.exec(authorization) ?? [];
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://aws');
    const date = headers['x-amz-date'] ?? '';
    const signed = await new SignatureV4({ ...me, service, sha256: Sha256 }).sign(
      {
        ...{ method: request.method ?? '', protocol: 'http:', hostname: 'aws', path: pathname },
        query: Object.fromEntries(searchParams),
        headers: Object.fromEntries(names.split(';').map((name) => [name, headers[name] ?? ''])),
        body: await buffer(request),
      },
      { signingDate: new Date(date.replace(/(....)(..)(..T..)(..)/, '$1-$2-$3:$4:')) },
    );
    const right = signed.headers.authorization === authorization;
    response.writeHead(right ? 200 : 403, { 'content-type': 'application/json' });
    response.end(JSON.stringify(right ? answer : { message: `wrong: ${authorization}` }));
  });
  const url = await listen(server, 0);
  stops.push(() => close(server));
  const forwarder = await forwardToAws(new URL(url), me);
  stops.push(forwarder.stop);
  return { endpoint: forwarder.url, seen };
}

test('AWS gets the request of a tool with the key and the region of the developer', async () => {
  const { endpoint, seen } = await aws({ executions: [] });
  const client = new SFNClient({ ...tool, endpoint });
  expect((await client.send(new ListExecutionsCommand({ stateMachineArn: 'a' }))).executions).toEqual([]);
  expect(seen).toEqual([
    expect.stringMatching(/^POST \/ AWS4-HMAC-SHA256 Credential=MINE\/\d{8}\/eu-central-1\/states\/aws4_request$/),
  ]);
});

test('path and query do not change', async () => {
  const { endpoint, seen } = await aws({ Functions: [] });
  await new LambdaClient({ ...tool, endpoint }).send(new ListFunctionsCommand({ Marker: 'a b+c/ü', MaxItems: 2 }));
  expect(seen[0]).toMatch(/^GET \/2015-03-31\/functions\?Marker=a%20b%2Bc%2F%C3%BC&MaxItems=2 /);
});

test.each([
  ['//other', '//other/model/x'],
  ['/\\other', '/\\other/model/x'],
])('a path that begins with %s names no other host', async (_what, path) => {
  const heard: string[] = [];
  const other = createServer((incoming, answer) => {
    heard.push(String(incoming.url));
    answer.end('{}');
  });
  const { host } = new URL(await listen(other, 0));
  stops.push(() => close(other));
  const { endpoint, seen } = await aws({});
  const { hostname, port, pathname } = new URL(endpoint);
  const authorization = 'AWS4-HMAC-SHA256 Credential=Tool/20261122/us-east-1/bedrock/aws4_request, SignedHeaders=host';
  const sent = request({
    ...{ hostname, port, method: 'POST', headers: { authorization } },
    path: `${pathname}${path.replace('other', host)}`,
  });
  sent.end('{}');
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.resume();
  expect(heard).toEqual([]);
  expect(seen.map((line) => line.split(' ')[1])).toEqual([path.replace('other', host)]);
});

test('a caller without the secret path, and a request without a signature, are refused', async () => {
  const { endpoint, seen } = await aws({});
  const signed = { authorization: 'AWS4-HMAC-SHA256 Credential=Tool/20261122/us-east-1/sns/aws4_request' };
  const status = async (url: string, headers: Record<string, string>) =>
    (await fetch(url, { method: 'POST', headers })).status;
  expect(await status(`${new URL(endpoint).origin}/`, signed)).toBe(403);
  expect(await status(`${endpoint}/`, {})).toBe(403);
  expect(seen).toEqual([]);
});

test("a tool's client gets an error if AWS cannot be reached", async () => {
  const forwarder = await forwardToAws(new URL('http://127.0.0.1:1'), me);
  stops.push(forwarder.stop);
  const call = new SFNClient({ ...tool, endpoint: forwarder.url }).send(
    new ListExecutionsCommand({ stateMachineArn: 'a' }),
  );
  await expect(call).rejects.toThrow(/could not reach AWS: .*ECONNREFUSED/);
});

test('each variable says where tools go; what runs here never goes to AWS', async () => {
  const env = {
    AWS_ENDPOINT_URL_SNS: 'aws',
    AWS_ENDPOINT_URL_BEDROCK_RUNTIME: 'aws',
    AWS_ENDPOINT_URL_SESV2: 'https://email.eu-west-1.amazonaws.com',
    AWS_ENDPOINT_URL_SQS: 'http://localhost:4566',
    ...{ AWS_ENDPOINT_URL_DYNAMODB: 'aws', AWS_ENDPOINT_URL_SFN: 'https://states.eu-west-1.amazonaws.com' },
    ...{ AWS_ENDPOINT_URL: 'aws', AWS_REGION: 'eu-central-1' },
  };
  const { variables, said, stop } = await readElsewhere(env, async () => me);
  stops.push(stop);
  const here = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/\w{32}$/);
  expect(variables).toEqual({
    ...{ AWS_ENDPOINT_URL_SNS: here, AWS_ENDPOINT_URL_BEDROCK_RUNTIME: here, AWS_ENDPOINT_URL_SESV2: here },
    AWS_ENDPOINT_URL_SQS: 'http://localhost:4566',
  });
  const mine = 'with your own credentials';
  expect(said).toEqual([
    `AWS_ENDPOINT_URL_SNS: tools reach AWS itself, https://sns.eu-central-1.amazonaws.com, ${mine}`,
    `AWS_ENDPOINT_URL_BEDROCK_RUNTIME: tools reach AWS itself, https://bedrock-runtime.eu-central-1.amazonaws.com, ${mine}`,
    `AWS_ENDPOINT_URL_SESV2: tools reach AWS itself, https://email.eu-west-1.amazonaws.com, ${mine}`,
    'AWS_ENDPOINT_URL_SQS: tools reach http://localhost:4566',
    'AWS_ENDPOINT_URL_DYNAMODB is left out: DYNAMODB runs here',
    'AWS_ENDPOINT_URL_SFN is left out: SFN runs here',
  ]);
});

test('a value without a URL, and AWS without credentials, are refused by the variable', async () => {
  const none = async () => Promise.reject(new Error('Could not load credentials'));
  await expect(readElsewhere({ AWS_ENDPOINT_URL_SNS: 'yes' })).rejects.toThrow(
    "AWS_ENDPOINT_URL_SNS is neither a URL nor 'aws': yes",
  );
  await expect(readElsewhere({ AWS_ENDPOINT_URL_SNS: 'aws' }, none)).rejects.toThrow(
    'AWS_ENDPOINT_URL_SNS=aws needs AWS credentials and a region in your shell: Could not load credentials',
  );
});
