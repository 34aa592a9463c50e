import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { beforeEach, describe, expect, test } from 'vitest';
import { authorize } from '../../../functions/authorizer/authorize.ts';
import { sufficient } from '../../../functions/authorizer/scopes.ts';
import { type Action, auditLine, type Facts } from '../../../functions/tasks/audit.ts';

const told: string[] = [];
beforeEach(() => void told.splice(0));

const verified: string[] = [];
beforeEach(() => void verified.splice(0));

const context = {
  verify: async (token: string) => {
    verified.push(token);
    if (token === 'good') return { owner: 'owner#ann', scopes: ['mcp'], caller: {} };
    if (token === 'better')
      return { owner: 'owner#ann', scopes: ['mcp', 'ops'], caller: { subject: 'änn', client: 'app' } };
    return token === 'early' ? ('unknown yet' as const) : ('invalid' as const);
  },
  scopes: ['mcp'],
  toolScopes: { deploy: ['mcp', 'ops:deploy'], 名: ['mcp', 'ops'] },
  audit: (action: Action, facts: Facts) => void told.push(auditLine(action, facts)),
};

const ask = (headers: Record<string, string[]>, scopes = context.scopes) => {
  const methodArn = 'arn:aws:execute-api:r:1:api/v1/POST/mcp';
  const event = { methodArn, resource: '/mcp', multiValueHeaders: headers };
  return authorize(event as unknown as APIGatewayRequestAuthorizerEvent, { ...context, scopes });
};
const policy = (Effect: string) => ({
  Version: '2012-10-17',
  Statement: [{ Effect, Action: 'execute-api:Invoke', Resource: 'arn:aws:execute-api:r:1:api/v1/*' }],
});
const allowed = {
  ...{ principalId: 'owner#ann', policyDocument: policy('Allow') },
  context: { owner: 'owner#ann', scope: 'mcp' },
};
const denied = { principalId: 'owner#ann', policyDocument: policy('Deny') };
const line = (facts: object) => JSON.stringify({ event: 'audit', action: 'denied', ...facts });

describe('the authorizer', () => {
  test.each(['Authorization', 'authorization'])('lets a good token in, by %s, and says whose it is', async (name) => {
    expect(await ask({ [name]: ['Bearer good'] })).toEqual(allowed);
    expect(told).toEqual([]);
  });

  test('takes the blanks after a token for no part of it', async () => {
    expect(await ask({ Authorization: ['Bearer good  '] })).toEqual(allowed);
  });

  test('names all scopes of the token to the endpoint, with a blank between them (G-09)', async () => {
    expect(await ask({ Authorization: ['Bearer better'] })).toMatchObject({ context: { scope: 'mcp ops' } });
  });

  test('names the caller to the endpoint as JSON in ASCII', async () => {
    const { context: passed } = await ask({ Authorization: ['Bearer better'] });
    expect(passed?.caller).toBe('{"subject":"\\u00e4nn","client":"app"}');
  });

  test('does not verify what cannot be a token', async () => {
    await expect(ask({ Authorization: ['Bearer "'] })).rejects.toThrow();
    expect(verified).toEqual([]);
  });

  test.each([
    ['none', {}, 'no_token'],
    ['two of them', { Authorization: ['Bearer good', 'Bearer good'] }, 'no_token'],
    [
      'two of them, written differently',
      { Authorization: ['Bearer good'], authorization: ['Bearer good'] },
      'no_token',
    ],
    ['two bad ones', { Authorization: ['Bearer bad', 'Bearer bad'] }, 'no_token'],
    ['one that may turn out good', { Authorization: ['Bearer early'] }, 'unknown_token'],
    ['another scheme', { Authorization: ['Basic good'] }, 'no_token'],
    ['another scheme that begins alike', { Authorization: ['Bearers good'] }, 'no_token'],
    ['another scheme that ends alike', { Authorization: ['XBearer good'] }, 'no_token'],
    ['a bad one', { Authorization: ['Bearer bad'] }, 'invalid_token'],
    ['a list', { Authorization: ['Bearer good, Bearer good'] }, 'invalid_token'],
    ['nothing after the scheme', { Authorization: ['Bearer '] }, 'invalid_token'],
    ['one that is none', { Authorization: ['Bearer "'] }, 'invalid_token'],
  ])('with %s says the word for a 401, which is not kept (G-04, G-08)', async (_title, headers, reason) => {
    await expect(ask(headers)).rejects.toThrow(/^Unauthorized$/);
    expect(told).toEqual([line({ reason })]);
  });

  const owner = 'owner#ann';

  test('denies a token without the scopes that every call needs (G-09)', async () => {
    expect(await ask({ authorization: ['Bearer good'] }, ['mcp', 'more'])).toEqual(denied);
    expect(told).toEqual([line({ owner, reason: 'insufficient_scope' })]);
  });

  const call = (name: string, method = 'tools/call') => ({ 'Mcp-Method': [method], 'mcp-name': [name] });

  test.each([
    ['as it is', call('deploy'), 'deploy'],
    ['encoded', call('=?base64?5ZCN?='), '名'],
  ])('denies a call of a tool that the token is not enough for, its name %s (G-09)', async (_title, headers, tool) => {
    expect(await ask({ authorization: ['Bearer good'], ...headers })).toEqual(denied);
    expect(told).toEqual([line({ owner, tool, reason: 'insufficient_scope' })]);
    expect(await ask({ authorization: ['Bearer better'], ...headers })).toMatchObject({
      policyDocument: policy('Allow'),
    });
  });

  test.each([
    ['a call of another tool', call('echo')],
    ['a call of a tool that there is not', call('constructor')],
    ['another request that names one', call('deploy', 'tasks/get')],
    ['a call that names none', { 'mcp-method': ['tools/call'] }],
    ['a call that names two', { 'mcp-method': ['tools/call'], 'mcp-name': ['deploy', 'deploy'] }],
    ['a call whose method is in two headers', { ...call('deploy'), 'Mcp-Method': ['tools/', 'call'] }],
    ['a call whose name is in two headers', { ...call('deploy'), 'mcp-name': ['dep', 'loy'] }],
    ['a name that is badly encoded', call('=?base64?x?=')],
    ['a 2025-11-25 request', {}],
  ])('leaves %s to the endpoint', async (_title, headers) => {
    expect(await ask({ authorization: ['Bearer good'], ...headers })).toEqual(allowed);
  });
});

test.each([
  [[], [], true],
  [['a'], [], false],
  [['a'], ['a'], true],
  [['a:b'], ['a'], true],
  [['a:b:c'], ['a:b'], true],
  [['a'], ['a:b'], false],
  [['ab'], ['a'], false],
  [['api://app/deploy'], ['api'], false],
  [['api://app:deploy'], ['api://app'], true],
  [[':a'], [''], false],
  [['a', 'b'], ['a'], false],
  [['a', 'b'], ['b', 'c', 'a'], true],
])('scopes %j with %j: %s (G-10)', (needed, granted, enough) => {
  expect(sufficient(needed, granted)).toBe(enough);
});
