import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { beforeEach, describe, expect, test } from 'vitest';
import { authorize } from '../../../functions/authorizer/authorize.ts';
import { sufficient } from '../../../functions/authorizer/scopes.ts';
import { type Action, auditLine, type Facts } from '../../../functions/tasks/audit.ts';

const told: string[] = [];
beforeEach(() => void told.splice(0));

const world = {
  verify: async (token: string) =>
    token === 'good'
      ? { owner: 'owner#ann', scopes: ['mcp'], expires: 1_700_000_000 }
      : token === 'early'
        ? ('unknown yet' as const)
        : ('invalid' as const),
  scopes: ['mcp'],
  toolScopes: { deploy: ['ops:deploy', 'mcp'] },
  metadata: 'https://m.example/meta',
  audit: (action: Action, facts: Facts) => void told.push(auditLine(action, facts)),
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
      context: { owner: 'owner#ann', scope: 'mcp', expires: 1_700_000_000, enough: true },
    });
  });

  const denied = (reason: string) => JSON.stringify({ event: 'audit', action: 'denied', reason });

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
  ])('with %s says the word for a 401, which is not kept (G-04, G-08)', async (_title, headers, reason) => {
    await expect(ask(headers)).rejects.toThrow(/^Unauthorized$/);
    expect(told).toEqual([denied(reason)]);
  });

  test.each([
    ['a bad one', 'Bearer bad'],
    ['a list', 'Bearer good, Bearer good'],
    ['nothing after the scheme', 'Bearer '],
    ['one that is none', 'Bearer "'],
  ])('with %s denies, in the words for a bad token and with nothing of it (G-04, G-08)', async (_title, sent) => {
    for (const more of [{}, { resource: '/mcp/challenge' }]) {
      expect(await ask({ authorization: [sent] }, more)).toEqual({
        ...{ principalId: 'nobody', policyDocument: policy('Deny') },
      });
    }
    expect(told).toEqual([denied('invalid_token'), denied('invalid_token')]);
  });

  test('lets a token without the scopes that every call needs go on to the challenge, and no further', async () => {
    const { policyDocument, context } = await ask({ authorization: ['Bearer good'] }, {}, ['mcp', 'more']);
    expect([policyDocument, context?.enough]).toEqual([policy('Allow'), false]);
  });

  test.each([
    ['deploy', 'mcp ops:deploy'],
    ['unknown', 'mcp'],
    ['constructor', 'mcp'],
  ])('at the challenge knows what %s needs: %s', async (tool, scope) => {
    const more = { resource: '/mcp/challenge', queryStringParameters: { tool } };
    const { context } = await ask({ authorization: ['Bearer good'] }, more);
    expect(context).toEqual({
      challenge: `Bearer error="insufficient_scope", scope="${scope}", resource_metadata="https://m.example/meta"`,
    });
    await expect(ask({}, more)).rejects.toThrow(/^Unauthorized$/);
  });

  test('is not led by a query outside the challenge', async () => {
    const { policyDocument, context } = await ask(
      { authorization: ['Bearer good'] },
      { queryStringParameters: { tool: 'deploy' } },
    );
    expect([policyDocument, context?.enough]).toEqual([policy('Allow'), true]);
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
