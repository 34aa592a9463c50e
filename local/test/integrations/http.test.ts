import { SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Cloud, startCloud } from '../../cloud.ts';
import { adminRole, clientConfig, writeAssembly } from '../fixture.ts';
import { allow, machine, role, task } from '../iam/stack.ts';

const connection = (AuthorizationType: string, AuthParameters: object) => ({
  Type: 'AWS::Events::Connection',
  Properties: { AuthorizationType, AuthParameters },
});
const arnOf = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] });
const URL_ENDPOINT = 'https://api.stripe.com/v1/invoices';
const call = (more: object = {}, id = 'Connection') => ({
  ...task('arn:aws:states:::http:invoke', {
    ApiEndpoint: URL_ENDPOINT,
    Method: 'POST',
    Authentication: { ConnectionArn: '${Connection}' },
    ...more,
  }),
  id,
});
const machineOf = (roleId: string, { id, ...state }: ReturnType<typeof call>) => {
  const { Properties, ...resource } = machine(roleId, state) as { Properties: object };
  return { ...resource, Properties: { ...Properties, DefinitionSubstitutions: { Connection: arnOf(id) } } };
};
const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
const encoded = (ArrayFormat?: string) => ({
  Headers: form,
  Transform: { RequestBodyEncoding: 'URL_ENCODED', ...(ArrayFormat && { RequestEncodingOptions: { ArrayFormat } }) },
  RequestBody: { description: 'My invoice', items: ['a', 'b'], metadata: { order: 7 } },
});
const granted = [
  allow('states:InvokeHTTPEndpoint', '*', {
    Condition: { StringLike: { 'states:HTTPEndpoint': 'https://api.stripe.com*' } },
  }),
  allow('events:RetrieveConnectionCredentials', arnOf('Connection')),
  allow(['secretsmanager:GetSecretValue', 'secretsmanager:DescribeSecret'], {
    'Fn::GetAtt': ['Connection', 'SecretArn'],
  }),
];

const resources: Record<string, object> = {
  Connection: connection('BASIC', { BasicAuthParameters: { Username: 'user', Password: 'secret' } }),
  Key: connection('API_KEY', { ApiKeyAuthParameters: { ApiKeyName: 'X-Key', ApiKeyValue: 'k' } }),
  Admin: adminRole('states'),
  Granted: role('states', granted),
  Poor: role('states', granted.slice(0, 2)),
  Json: machineOf('Granted', call({ RequestBody: '{% $states.input %}', QueryParameters: { expand: ['a', 'b'] } })),
  Form: machineOf('Admin', call(encoded())),
  Brackets: machineOf('Admin', call(encoded('BRACKETS'))),
  Commas: machineOf('Admin', call(encoded('COMMAS'))),
  Keyed: machineOf('Admin', call({ Method: 'GET' }, 'Key')),
  Denied: machineOf('Poor', call()),
  Elsewhere: machineOf('Granted', call({ ApiEndpoint: 'https://example.com/' })),
  Plain: machineOf('Admin', call({ ApiEndpoint: 'http://api.stripe.com/' })),
  Odd: machineOf('Admin', call({ Method: 'TRACE' })),
  Host: machineOf('Admin', call({ Headers: { Host: 'example.com' } })),
  Unknown: machineOf('Admin', call({ Authentication: { ConnectionArn: 'arn:aws:events:x' } })),
  Retried: machineOf('Admin', {
    ...call({ Method: 'GET' }),
    Retry: [{ ErrorEquals: ['States.Http.StatusCode.429'], IntervalSeconds: 1, MaxAttempts: 1 }],
  } as ReturnType<typeof call>),
};

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud({ assembly: writeAssembly({ resources }), timeScale: 100 });
});
afterAll(() => cloud?.stop());
afterEach(() => vi.unstubAllGlobals());

const answers = (...given: Response[]) => {
  const sent = vi.fn(async (_url: URL, _init: RequestInit) => given.shift() ?? new Response('', { status: 500 }));
  vi.stubGlobal('fetch', sent);
  return sent;
};
async function run(name: string, input: unknown = {}) {
  const stateMachineArn = `arn:aws:states:us-east-1:000000000000:stateMachine:Test-${name}`;
  const asked = { stateMachineArn, input: JSON.stringify(input) };
  const { executionArn = '' } = await new SFNClient(clientConfig(cloud)).send(new StartExecutionCommand(asked));
  await cloud.stepFunctions.closed(executionArn);
  const ended = await cloud.stepFunctions.operations.DescribeExecution?.({ executionArn });
  const { output, error, cause } = ended as Record<string, string | undefined>;
  return { error, cause, output: output === undefined ? undefined : JSON.parse(output) };
}

describe('http:invoke', () => {
  test('sends JSON with the credentials of the connection, and answers as an HTTP task', async () => {
    const sent = answers(Response.json({ id: 'in_1' }, { statusText: 'OK' }));
    const { output } = await run('Json', { amount: 7 });
    expect(output).toMatchObject({ StatusCode: 200, StatusText: 'OK', ResponseBody: { id: 'in_1' } });
    expect(output.Headers['content-type']).toEqual([expect.stringContaining('json')]);
    const [url, { method, body, headers } = {} as RequestInit] = sent.mock.calls[0] ?? [];
    expect([String(url), method, body]).toEqual([`${URL_ENDPOINT}?expand=a&expand=b`, 'POST', '{"amount":7}']);
    expect(headers).toMatchObject({
      authorization: `Basic ${Buffer.from('user:secret').toString('base64')}`,
      'user-agent': 'Amazon|StepFunctions|HttpInvoke|us-east-1',
      range: 'bytes=0-262144',
    });
  });

  test.each([
    ['Form', 'items[0]=a&items[1]=b'],
    ['Brackets', 'items[]=a&items[]=b'],
    ['Commas', 'items=a,b'],
  ])('%s: sends the body as a form', async (name, items) => {
    const sent = answers(new Response('fine'));
    expect((await run(name)).output).toMatchObject({ ResponseBody: 'fine' });
    const body = decodeURIComponent(String(sent.mock.calls[0]?.[1].body)).replaceAll('+', ' ');
    expect(body).toBe(`description=My invoice&${items}&metadata[order]=7`);
  });

  test('sends the key of a connection by key', async () => {
    const sent = answers(new Response('fine'));
    await run('Keyed');
    expect(sent.mock.calls[0]?.[1].headers).toMatchObject({ 'x-key': 'k' });
  });

  test('fails with the status of the answer, which Retry can name', async () => {
    answers(new Response('{}', { status: 400, statusText: 'Bad Request' }));
    expect(await run('Json')).toMatchObject({ error: 'States.Http.StatusCode.400', cause: 'Bad Request' });
    const sent = answers(new Response('', { status: 429 }), new Response('fine'));
    expect((await run('Retried')).output).toMatchObject({ ResponseBody: 'fine' });
    expect(sent).toHaveBeenCalledTimes(2);
  });

  test('fails with States.Http.Socket without an answer, and above 256 KiB', async () => {
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('fetch failed')));
    expect((await run('Json')).error).toBe('States.Http.Socket');
    answers(new Response('x'.repeat(262_145)));
    expect((await run('Json')).error).toBe('States.DataLimitExceeded');
  });

  test.each([
    ['Denied', 'States.Permissions', 'secretsmanager:GetSecretValue'],
    ['Elsewhere', 'States.Permissions', 'states:InvokeHTTPEndpoint'],
    ['Plain', 'States.Runtime', 'must be an https URL'],
    ['Odd', 'States.Runtime', 'Method must be one of'],
    ['Host', 'States.Runtime', 'the header Host cannot be set'],
    ['Unknown', 'States.Runtime', 'does not know the connection arn:aws:events:x'],
  ])('%s fails as %s, and sends nothing', async (name, error, cause) => {
    const sent = answers();
    expect(await run(name)).toMatchObject({ error, cause: expect.stringContaining(cause) });
    expect(sent).not.toHaveBeenCalled();
  });
});

test.each([
  ['OAuth', connection('OAUTH_CLIENT_CREDENTIALS', {}), 'AuthorizationType "OAUTH_CLIENT_CREDENTIALS"'],
  [
    'a secret that is kept elsewhere',
    connection('API_KEY', { ApiKeyAuthParameters: { ApiKeyName: 'X', ApiKeyValue: 'not-run-locally' } }),
    'AuthParameters.ApiKeyValue',
  ],
  [
    'more parameters',
    connection('API_KEY', {
      ApiKeyAuthParameters: { ApiKeyName: 'X', ApiKeyValue: 'k' },
      InvocationHttpParameters: {},
    }),
    'AuthParameters "InvocationHttpParameters"',
  ],
])('a connection with %s is refused by name', async (_what, Connection, why) => {
  await expect(startCloud({ assembly: writeAssembly({ resources: { Connection } }) })).rejects.toThrow(why);
});
