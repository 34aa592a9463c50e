import type { APIGatewayProxyEvent } from 'aws-lambda';
import { describe, expect, test } from 'vitest';
import { callerOf } from '../../../../functions/mcp/identity/caller.ts';

describe('the signer of a request', () => {
  const contextOf = (identity: object) => ({ identity }) as APIGatewayProxyEvent['requestContext'];
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

describe('what the authorizer says of a caller', () => {
  const of = (authorizer?: object) => callerOf('oauth', { authorizer } as APIGatewayProxyEvent['requestContext']);

  test('is whose tasks are theirs, and their scopes', () => {
    expect(of({ owner: 'owner#a', scope: 'a b:c', principalId: 'p' })).toEqual({
      key: 'owner#a',
      scopes: ['a', 'b:c'],
    });
  });

  test.each([[undefined], [{}], [{ owner: '' }], [{ owner: 1 }]])(
    'without an owner a request has no caller: %j',
    (said) => {
      expect(of(said)).toBeUndefined();
    },
  );
});
