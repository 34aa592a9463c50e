import type { APIGatewayProxyEvent } from 'aws-lambda';
import { describe, expect, test } from 'vitest';
import type { ServerContext } from '../../../../functions/mcp/context.ts';
import type { Caller } from '../../../../functions/mcp/http/http.ts';
import { principalOf, verifiedCaller } from '../../../../functions/mcp/identity/caller.ts';
import { verifiedKey } from '../../../../functions/tasks/ids.ts';
import { fakeServer, manifest } from '../support/fake-server.ts';

describe('the signer of a request', () => {
  const contextOf = (identity: object) => ({ identity }) as APIGatewayProxyEvent['requestContext'];
  const keyOf = (caller: string | null, cognitoIdentityId: string | null = null) =>
    verifiedCaller('iam', contextOf({ caller, cognitoIdentityId }))?.key;

  test('is a user, or the session of a role', () => {
    expect(keyOf(null)).toBeUndefined();
    expect(keyOf('')).toBeUndefined();
    // Tasks lie under these keys: others would lose them.
    expect(keyOf('AROA:ann')).toBe(verifiedKey('iam', 'user', 'AROA:ann'));
    expect(keyOf('AROA:x', 'eu:ann')).toBe(verifiedKey('cognito', 'user', 'eu:ann'));
    expect(verifiedCaller('iam', contextOf({ caller: 'AROA:ann' }))?.scopes).toEqual([]);
    const everything = { ...contextOf({ caller: 'AROA:ann' }), authorizer: { owner: 'owner#a' } };
    expect(verifiedCaller('anonymous', everything)).toBeUndefined();
    expect(keyOf('AROA:ann')).not.toBe(keyOf('AROA:ben'));
    expect(keyOf('AROA:ann')).toBe(keyOf('AROA:ann'));
  });

  test('is what tools see: its ARN, or the id of a Cognito identity', () => {
    const shown = (more: object) => verifiedCaller('iam', contextOf({ caller: 'AIDA', ...more }))?.shown;
    const userArn = 'arn:aws:iam::1:user/ann';
    expect(shown({ userArn })).toBe(`{"subject":"${userArn}"}`);
    expect(shown({ userArn, cognitoIdentityId: 'us-east-1:ann' })).toBe('{"subject":"us-east-1:ann"}');
    expect(shown({})).toBe('{"subject":"AIDA"}');
  });

  test('is one identity of a Cognito pool: all of them share a session, and its name (F-05, G-15)', () => {
    const shared = 'AROA:CognitoIdentityCredentials';
    const ann = keyOf(shared, 'us-east-1:ann');
    expect(ann).not.toBe(keyOf(shared, 'us-east-1:ben'));
    expect(ann).not.toBe(keyOf(shared));
    // Of another role of the pool, too, with any name of its session.
    expect(ann).toBe(keyOf('AROB:other', 'us-east-1:ann'));
  });
});

describe('what the authorizer says of a caller', () => {
  const of = (authorizer?: object) => verifiedCaller('oauth', { authorizer } as APIGatewayProxyEvent['requestContext']);

  test('is whose tasks are theirs, and their scopes', () => {
    expect(of({ owner: 'owner#a', scope: 'a b:c', principalId: 'p' })).toEqual({
      key: 'owner#a',
      scopes: ['a', 'b:c'],
    });
    expect(of({ owner: 'owner#a' })?.scopes).toEqual(['']);
    expect(of({ owner: 'owner#a', caller: '{"client":"app"}' })?.shown).toBe('{"client":"app"}');
  });

  test.each([[undefined], [{}], [{ owner: '' }], [{ owner: 1 }]])(
    'without an owner a request has no caller: %j',
    (said) => {
      expect(of(said)).toBeUndefined();
    },
  );
});

describe('what a caller may do', () => {
  const oauth = (more: Partial<ServerContext> = {}) =>
    fakeServer({ manifest: { ...manifest, auth: 'oauth', scopes: ['mcp'] }, ...more });
  const by = (...scopes: string[]) => ({ key: 'owner#a', scopes });

  test('is decided by the verified key (G-15)', () => {
    expect(principalOf(by('mcp'), fakeServer().server)).toEqual({ kind: 'anonymous' });
    const { server } = oauth();
    expect(principalOf(by('mcp'), server)).toEqual({ kind: 'verified', key: 'owner#a', scopes: ['mcp'] });
  });

  test('is nothing without a caller, or without the scopes that every call needs (G-09)', () => {
    const { server } = oauth();
    const refused = (caller?: Caller) => {
      try {
        return principalOf(caller, server);
      } catch (error) {
        return error;
      }
    };
    expect(refused()).toMatchObject({ message: 'Forbidden', httpStatus: 403 });
    expect(refused(by('other'))).toMatchObject({ data: { scopes: ['mcp'] }, httpStatus: 403 });
    const open = oauth({ manifest: { ...manifest, auth: 'oauth' } });
    expect(principalOf(by(), open.server)).toMatchObject({ kind: 'verified' });
  });
});
