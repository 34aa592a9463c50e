import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { describe, expect, test } from 'vitest';
import { authorize } from '../../../functions/authorizer/authorize.ts';
import { sufficient } from '../../../functions/authorizer/scopes.ts';

const world = {
  verify: async (token: string) =>
    token === 'good' ? { owner: 'owner#ann', scopes: ['mcp'], expires: 1_700_000_000 } : undefined,
  scopes: ['mcp'],
  toolScopes: { deploy: ['ops:deploy', 'mcp'] },
  metadata: 'https://m.example/meta',
};

const ask = (
  headers: Record<string, string[]>,
  more: Partial<APIGatewayRequestAuthorizerEvent> = {},
  scopes = world.scopes,
) => {
  const methodArn = 'arn:aws:execute-api:r:1:api/v1/POST/mcp';
  const event = { methodArn, resource: '/mcp', multiValueHeaders: headers, ...more };
  return authorize(event as unknown as APIGatewayRequestAuthorizerEvent, { ...world, scopes });
};
const policy = (Effect: string) => ({
  Version: '2012-10-17',
  Statement: [{ Effect, Action: 'execute-api:Invoke', Resource: 'arn:aws:execute-api:r:1:api/v1/*' }],
});

describe('the authorizer', () => {
  test.each(['Authorization', 'authorization'])('lets a good token in, by %s, and says whose it is', async (name) => {
    expect(await ask({ [name]: ['Bearer good'] })).toEqual({
      ...{ principalId: 'owner#ann', policyDocument: policy('Allow') },
      context: { owner: 'owner#ann', scope: 'mcp', expires: 1_700_000_000 },
    });
  });

  test.each([
    ['none', {}],
    ['two of them', { Authorization: ['Bearer good', 'Bearer good'] }],
    ['two of them, written differently', { Authorization: ['Bearer good'], authorization: ['Bearer good'] }],
    ['a bad one', { Authorization: ['Bearer bad'] }],
    ['another scheme', { Authorization: ['Basic good'] }],
    ['a list', { Authorization: ['Bearer good, Bearer good'] }],
    ['nothing after the scheme', { Authorization: ['Bearer '] }],
  ])('with %s says the word for a 401 (G-04)', async (_title, headers) => {
    await expect(ask(headers)).rejects.toThrow(/^Unauthorized$/);
  });

  test('refuses a token without the scopes that every call needs', async () => {
    const { policyDocument, context } = await ask({ authorization: ['Bearer good'] }, {}, ['mcp', 'more']);
    expect(policyDocument).toEqual(policy('Deny'));
    const challenge = 'Bearer error="insufficient_scope", scope="mcp more", resource_metadata="https://m.example/meta"';
    expect(context).toEqual({ challenge });
  });

  test.each([
    ['deploy', 'mcp ops:deploy'],
    ['unknown', 'mcp'],
    ['constructor', 'mcp'],
  ])('at the challenge refuses everybody; for %s it names %s', async (tool, scope) => {
    const more = { resource: '/mcp/challenge', queryStringParameters: { tool } };
    const { policyDocument, context } = await ask({ authorization: ['Bearer good'] }, more);
    expect(policyDocument).toEqual(policy('Deny'));
    expect(context?.challenge).toContain(`scope="${scope}"`);
    await expect(ask({}, more)).rejects.toThrow(/^Unauthorized$/);
  });

  test('is not led by a query outside the challenge', async () => {
    const { policyDocument } = await ask(
      { authorization: ['Bearer good'] },
      { queryStringParameters: { tool: 'deploy' } },
    );
    expect(policyDocument).toEqual(policy('Allow'));
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
  [['a', 'b'], ['a'], false],
  [['a', 'b'], ['b', 'c', 'a'], true],
])('scopes %j with %j: %s (G-10)', (needed, granted, enough) => {
  expect(sufficient(needed, granted)).toBe(enough);
});
