import type { APIGatewayProxyEvent } from 'aws-lambda';
import { describe, expect, test } from 'vitest';
import { callerOf } from '../../../functions/mcp/caller.ts';
import { modernMessage } from '../../support/clients.ts';
import { fakeServer, manifest } from './fake-server.ts';
import { endpoint } from './posted.ts';

describe('who signed a request', () => {
  const contextOf = (identity: object) => ({ path: '/v1/mcp', identity }) as APIGatewayProxyEvent['requestContext'];
  const keyOf = (caller: string | null, cognitoIdentityId: string | null = null) =>
    callerOf('iam', contextOf({ caller, cognitoIdentityId }))?.key;

  test('is a user, or the session of a role', () => {
    expect(keyOf(null)).toBeUndefined();
    expect(keyOf('AROA:ann')).not.toBe(keyOf('AROA:ben'));
    expect(keyOf('AROA:ann')).toBe(keyOf('AROA:ann'));
  });

  test('is one identity of a Cognito pool: all of them share a session, and its name (F-05, G-15)', () => {
    const shared = 'AROA:CognitoIdentityCredentials';
    const ann = keyOf(shared, 'us-east-1:ann');
    expect(ann).not.toBe(keyOf(shared, 'us-east-1:ben'));
    expect(ann).not.toBe(keyOf(shared));
    // Of another role of the pool, too, and whatever name its session has.
    expect(ann).toBe(keyOf('AROB:other', 'us-east-1:ann'));
  });
});

describe('a token that is not enough', () => {
  const caller = { key: 'owner#a', scopes: [], expires: Number.POSITIVE_INFINITY, challengeAt: '/mcp/challenge' };
  async function call(name: unknown, enough: boolean) {
    const { server } = fakeServer({ manifest: { ...manifest, auth: 'oauth' } });
    const [[plain, tool] = []] = [...server.tools];
    if (plain === undefined || tool === undefined) throw new Error('no tool');
    const tools = new Map([[plain, { ...tool, entry: { ...tool.entry, scopes: ['ops'] } }]]);
    const { headers, body } = modernMessage('tools/call', { name });
    const sent = Object.fromEntries(
      Object.entries({ 'mcp-name': 'x', ...headers }).map(([key, value]) => [key, String(value)]),
    );
    const request = { method: 'POST', headers: sent, body: JSON.stringify(body), caller: { ...caller, enough } };
    const reply = await endpoint(request, { ...server, tools });
    return [reply.status, reply.headers.location, JSON.parse(String(reply.body)).error.code];
  }

  test('is challenged by the tool that was called', async () => {
    expect(await call('plain', true)).toEqual([307, '/mcp/challenge?tool=plain', -32600]);
  });

  // Text that no URL can hold, one that no header can, and what is no text at all.
  test.each([['\ud800'], ['x'.repeat(20_000)], [{ toString: 1 }], [['plain']], [undefined]])(
    'is challenged by no tool when none has such a name',
    async (name) => {
      expect(await call(name, false)).toEqual([307, '/mcp/challenge', -32600]);
      expect((await call(name, true)).slice(1)).toEqual([undefined, -32602]);
    },
  );
});
