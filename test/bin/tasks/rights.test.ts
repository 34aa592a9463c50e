import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import {
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { ended, modernRequest, poll, runTask } from '../../support/clients.ts';
import { useAssembly, useCloud } from '../../support/cloud.ts';
import { verbsOn } from './verbs.ts';

const cloud = useCloud('assembly', { assembly: useAssembly('test/support/apps/operator-app.ts') });
const url = () => `${cloud().url}/mcp`;
const [reader, actor, auditor, everything] = ['Reader', 'Actor', 'Auditor', 'Everything'].map((role) =>
  verbsOn(cloud, role),
) as [ReturnType<typeof verbsOn>, ReturnType<typeof verbsOn>, ReturnType<typeof verbsOn>, ReturnType<typeof verbsOn>];
const why = ['--reason', 'INC-7'];
const ARGUMENT = 'sesame-argument';
/** Texts of clients and tools, and the text of the question of `ask`. */
const SECRETS = [ARGUMENT, /Really/, /inputRequests/, /step \d/];

let open: string;
let done: string;
let stepping: string;
beforeAll(async () => {
  const start = async (name: string, args: object) =>
    (await modernRequest(url(), 'tools/call', { name, arguments: args })).body.result.taskId as string;
  open = await start('ask', { secret: ARGUMENT });
  await poll(url(), open, ({ status }) => status === 'input_required');
  done = (await runTask(url(), 'echo', { secret: ARGUMENT })).taskId;
  stepping = await start('steps', { steps: 25, secret: ARGUMENT });
  await poll(url(), stepping, ({ statusMessage }) => statusMessage?.startsWith('step') === true);
});
const statusOf = async (taskId: string) => (await modernRequest(url(), 'tasks/get', { taskId })).body.result.status;

describe('with the read policy alone', () => {
  test.each([
    ['list', () => ['list', '--status', 'all']],
    ['list of an owner', () => ['list', '--status', 'all', '--owner', `task#${done}`]],
    ['show, of one that asks', () => ['show', open]],
    ['show, of one that works', () => ['show', stepping]],
    ['show, of one that has ended', () => ['show', done]],
    ['explain, of one that asks', () => ['explain', open]],
    ['explain, of one that works', () => ['explain', stepping]],
    ['explain, of one that has ended', () => ['explain', done]],
    ['logs', () => ['logs', done]],
    ['logs of a part', () => ['logs', '--part', 'endpoint']],
  ])('%s works, and shows no argument, question, answer, result or message', async (_what, args) => {
    for (const more of [[], ['--json']]) {
      const { code, out, err } = await reader(...args(), ...more);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(out.length).toBeGreaterThan(5);
      for (const secret of SECRETS) expect(out).not.toMatch(secret);
    }
  });

  test('the run of a task is shown, too, by the list of executions, without a payload', async () => {
    const { runs } = (await reader('show', done, '--json')).json();
    expect(runs).toMatchObject([{ status: 'SUCCEEDED', failures: [] }]);
  });

  test.each([
    ['show --payload', () => ['show', open, '--payload'], 'payload'],
    ['explain --payload', () => ['explain', done, '--payload'], 'payload'],
    ['cancel', () => ['cancel', open, ...why], 'act'],
    ['fail', () => ['fail', open, ...why], 'act'],
    ['answer', () => ['answer', open, 'ok=true', ...why], 'payload'],
    ['rerun', () => ['rerun', done, '--force', ...why], 'payload'],
  ])('%s fails, changes nothing, and names the policy', async (_what, args, policy) => {
    const { code, out, err } = await reader(...args());
    expect(code).toBe(1);
    expect(out + err).toContain(`The ${policy} policy of the server allows it`);
    for (const secret of SECRETS) expect(out + err).not.toMatch(secret);
    expect(await statusOf(open)).toBe('input_required');
  });

  test('logs --payload says that the lines of the tool are not shown', async () => {
    const { code, out } = await reader('logs', done, '--payload');
    expect(code).toBe(0);
    expect(out).toContain('the lines of echo: your credentials may not read them');
  });

  test('no call of DynamoDB reads a payload, with or without a list of attributes', async () => {
    const credentials = { accessKeyId: 'Reader', secretAccessKey: 'test' };
    const client = new DynamoDBClient({ endpoint: cloud().endpoint, region: cloud().region, credentials });
    const db = DynamoDBDocumentClient.from(client);
    const TableName = cloud().tables[0] ?? '';
    const Key = { owner: `task#${done}`, taskId: done };
    const query = {
      ...{ TableName, KeyConditionExpression: '#o = :o', ExpressionAttributeNames: { '#o': 'owner' } },
      ExpressionAttributeValues: { ':o': Key.owner },
    };
    for (const command of [
      new GetCommand({ TableName, Key }),
      new GetCommand({ TableName, Key, ProjectionExpression: 'taskId' }),
      new QueryCommand(query),
      new QueryCommand({
        ...query,
        ProjectionExpression: '#r',
        ExpressionAttributeNames: { '#o': 'owner', '#r': 'result' },
      }),
      new QueryCommand({ ...query, Select: 'ALL_ATTRIBUTES' }),
      new ScanCommand({ TableName, ProjectionExpression: 'taskId' }),
    ]) {
      await expect(db.send(command as GetCommand)).rejects.toMatchObject({ name: 'AccessDeniedException' });
    }
  });
});

test('keepArguments keeps small arguments past the end; the read policy does not show them', async () => {
  const { taskId } = await runTask(url(), 'keeps', { secret: ARGUMENT });
  const credentials = { accessKeyId: 'administrator', secretAccessKey: 'test' };
  const client = new DynamoDBClient({ endpoint: cloud().endpoint, region: cloud().region, credentials });
  const get = new GetCommand({ TableName: cloud().tables[0] ?? '', Key: { owner: `task#${taskId}`, taskId } });
  expect((await DynamoDBDocumentClient.from(client).send(get)).Item?.kept).toBe(JSON.stringify({ secret: ARGUMENT }));
  expect((await reader('show', taskId, '--json')).out).not.toContain(ARGUMENT);
});

describe('with more rights', () => {
  test('read and payload: shows arguments, questions and results, and ends nothing', async () => {
    expect((await auditor('show', open, '--payload')).out).toContain('Really?');
    expect((await auditor('show', done, '--payload')).out).toContain(ARGUMENT);
    for (const verb of ['cancel', 'fail'])
      expect((await auditor(verb, open, ...why)).out).toContain('The act policy of the server allows it');
    expect(await statusOf(open)).toBe('input_required');
  });

  test('act alone names no payload, runs no tool, and writes only into records', async () => {
    const { endpoint, region } = cloud();
    const client = { endpoint, region, credentials: { accessKeyId: 'Actor', secretAccessKey: 'test' } };
    const db = DynamoDBDocumentClient.from(new DynamoDBClient(client));
    const TableName = cloud().tables[0] ?? '';
    const Key = { owner: `task#${done}`, taskId: done };
    const update = (from: string, more = {}) =>
      db.send(new UpdateCommand({ TableName, Key, UpdateExpression: `SET updatedAt = ${from}`, ...more }));
    const denied = { name: 'AccessDeniedException' };
    for (const name of ['result', 'kept', 'arguments', 'asked', 'inputResponses', 'inputRef'])
      await expect(update(name), name).rejects.toMatchObject(denied);
    await expect(update('updatedAt', { ReturnValues: 'ALL_NEW' })).rejects.toMatchObject(denied);
    await expect(update('updatedAt', { Key: { owner: `progress#task#${done}`, taskId: done } })).rejects.toMatchObject(
      denied,
    );
    await expect(update('updatedAt')).resolves.toBeDefined();
    await expect(db.send(new PutCommand({ TableName, Item: { ...Key, kept: 'x' } }))).rejects.toMatchObject(denied);
    const stateMachineArn = cloud().stepFunctions.executions()[0]?.stateMachineArn;
    const start = new StartExecutionCommand({ stateMachineArn, input: '{}' });
    await expect(new SFNClient(client).send(start)).rejects.toMatchObject(denied);
  });

  test('payload alone gets no record back from a write', async () => {
    const { endpoint, region } = cloud();
    const client = { endpoint, region, credentials: { accessKeyId: 'Auditor', secretAccessKey: 'test' } };
    const db = DynamoDBDocumentClient.from(new DynamoDBClient(client));
    const Item = { owner: 'task#none', taskId: 'none' };
    const put = new PutCommand({ TableName: cloud().tables[0] ?? '', Item, ReturnValues: 'ALL_OLD' });
    await expect(db.send(put)).rejects.toMatchObject({ name: 'AccessDeniedException' });
  });

  test('read and act: cancels and fails; answers and runs again only with payload', async () => {
    const { body } = await modernRequest(url(), 'tools/call', { name: 'ask', arguments: {} });
    const { taskId } = body.result;
    await poll(url(), taskId, ({ status }) => status === 'input_required');
    expect((await actor('answer', taskId, 'ok=true', ...why)).err).toContain('The payload policy');
    expect((await actor('cancel', taskId, ...why)).code).toBe(0);
    expect(await statusOf(taskId)).toBe('cancelled');
    expect((await actor('fail', stepping, ...why)).code).toBe(0);
    expect(await statusOf(stepping)).toBe('failed');
  });

  test('all three: answers, and runs again', async () => {
    expect((await everything('answer', open, 'ok=true', ...why)).out).toContain('Round 2 runs');
    await poll(url(), open, ended);
    const again = await everything('rerun', done, '--force', '--json', ...why);
    expect(again.json()).toMatchObject({ failed: [], succeeded: [{ done: true }] });
    const { who } = JSON.parse(again.err);
    expect(who).toMatch(/^arn:aws:sts::000000000000:assumed-role\//);
  });
});
