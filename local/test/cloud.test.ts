import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cloud, startCloud } from '../cloud.ts';
import { synthApp } from '../template/synth.ts';
import { clientConfig, temporaryDir } from './fixture.ts';

let cloud: Cloud;
const logs: string[] = [];
beforeAll(async () => {
  const assembly = temporaryDir();
  await synthApp('local/test/app/app.ts', assembly);
  const onLog = (source: string, line: string) => logs.push(`${source}: ${line}`);
  cloud = await startCloud({ assembly, recordCalls: true, onLog });
});
afterAll(() => cloud?.stop());

async function itemOf(id: string): Promise<Record<string, unknown> | undefined> {
  const command = new GetItemCommand({ TableName: cloud.outputs.TableName, Key: { id: { S: id } } });
  return (await new DynamoDBClient(clientConfig(cloud)).send(command)).Item;
}

test('a request starts a machine, which runs a function and writes the table', async () => {
  const mark = cloud.calls.mark();
  const response = await fetch(`${cloud.url}/start`, { method: 'POST', body: 'one' });
  expect([response.status, response.headers.get('x-secret-length')]).toEqual([202, '40']);

  const pieces: [piece: string, at: number][] = [];
  for await (const piece of response.body ?? []) pieces.push([Buffer.from(piece).toString(), performance.now()]);
  const [[first, at] = ['', 0], [second, later] = ['', 0]] = pieces;
  expect([first, second]).toEqual(['stored\n', 'started\n']);
  expect(later - at).toBeGreaterThan(200);

  await expect.poll(() => itemOf('one')).toEqual({ id: { S: 'one' }, answer: { S: 'done one' } });
  expect(cloud.stepFunctions.executions()).toMatchObject([{ name: 'one', states: ['Run', 'Finish'], transitions: 2 }]);
  await expect.poll(() => cloud.stepFunctions.executions()[0]?.status).toBe('SUCCEEDED');
  expect(logs).toContainEqual(expect.stringMatching(/^Small-Work\w+: .*working/));

  const calls = cloud.calls.since(mark).filter(({ caller }) => caller !== 'test');
  expect(
    calls.map(({ caller, service, operation, consumed }) => [caller.slice(0, -8), service, operation, consumed]),
  ).toEqual([
    ['Endpoint', 'secretsmanager', 'GetSecretValue', undefined],
    ['Endpoint', 'dynamodb', 'PutItem', { table: 1, index: 1 }],
    ['Endpoint', 'states', 'StartExecution', undefined],
    ['MachineRole', 'lambda', 'Invoke', undefined],
    ['MachineRole', 'dynamodb', 'UpdateItem', { table: 1, index: 1 }],
  ]);
});

test('a buffered integration answers too', async () => {
  const response = await fetch(`${cloud.url}/plain`);
  expect([response.status, await response.text()]).toEqual([200, 'plain']);
});

test('AWS clients reach Lambda and Step Functions, and get their errors by name', async () => {
  const lambda = new LambdaClient(clientConfig(cloud));
  const [work] = cloud.lambda.workers().filter(({ functionName }) => functionName.includes('Work'));
  const mark = cloud.calls.mark();
  const output = await lambda.send(new InvokeCommand({ FunctionName: work?.functionName, Payload: '{"id":"x"}' }));
  expect(JSON.parse(Buffer.from(output.Payload ?? []).toString())).toEqual({ id: 'x', answer: 'done x' });
  const missing = lambda.send(new InvokeCommand({ FunctionName: 'missing' }));
  await expect(missing).rejects.toThrow(expect.objectContaining({ name: 'ResourceNotFoundException' }));
  expect(cloud.calls.since(mark)).toMatchObject([
    { caller: 'test', service: 'lambda', operation: 'Invoke', status: 200, input: { Payload: '{"id":"x"}' } },
    { caller: 'test', service: 'lambda', operation: 'Invoke', status: 404, error: 'ResourceNotFoundException' },
  ]);

  const stateMachineArn = 'arn:aws:states:us-east-1:000000000000:stateMachine:missing';
  const start = new SFNClient(clientConfig(cloud)).send(new StartExecutionCommand({ stateMachineArn }));
  await expect(start).rejects.toThrow(expect.objectContaining({ name: 'StateMachineDoesNotExist' }));
});

test.each([
  ['an unsigned request', {}, 403, 'MissingAuthenticationTokenException'],
  [
    'another Host',
    { host: 'evil.example', authorization: 'AWS4-HMAC-SHA256 Credential=x/y' },
    403,
    'AccessDeniedException',
  ],
  ['an unknown service', { authorization: 'AWS4-HMAC-SHA256 Credential=x/y' }, 404, 'UnknownOperationException'],
])('the endpoint refuses %s', async (_name, headers, status, type) => {
  const { request } = await import('node:http');
  const { promise, resolve } = Promise.withResolvers<[number | undefined, unknown]>();
  const target = { 'x-amz-target': 'Kinesis_20131202.PutRecord', ...headers };
  request(cloud.endpoint, { method: 'POST', headers: target }, (response) => {
    resolve([response.statusCode, response.headers['x-amzn-errortype']]);
    response.resume();
  }).end('{}');
  expect(await promise).toEqual([status, type]);
});

test('both servers answer this machine only', async () => {
  const outside = Object.values(networkInterfaces()).flatMap((all = []) => all.filter(({ internal }) => !internal));
  for (const url of [cloud.url, cloud.endpoint]) {
    const { hostname, port } = new URL(url);
    expect(hostname).toBe('127.0.0.1');
    for (const host of ['127.0.0.2', '::1', ...outside.map(({ address }) => address)]) {
      const socket = connect({ host, port: Number(port), timeout: 1_000 });
      const outcome = await new Promise((resolve) => {
        for (const event of ['connect', 'error', 'timeout']) socket.once(event, () => resolve(event));
      });
      socket.destroy();
      expect([host, outcome]).not.toEqual([host, 'connect']);
    }
  }
});
