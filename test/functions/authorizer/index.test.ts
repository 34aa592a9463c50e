import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { afterEach, expect, test, vi } from 'vitest';
import { createHandler } from '../../../functions/authorizer/index.ts';
import { loopbackFetcher } from '../../../functions/authorizer/loopback.ts';
import { verifiedKey } from '../../../functions/tasks/ids.ts';
import { issuer, useIssuer } from '../../support/issuer.ts';
import { AUDIENCE, type Claims } from '../../support/oidc.ts';

useIssuer();

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** What the function answers to a token, with this environment and one tool that needs `ops`. */
async function ask(claims: Claims, environment: Readonly<Record<string, string>> = {}, headers = {}) {
  for (const [name, value] of Object.entries({ SERVER_NAME: 'S', ISSUER: issuer.url, AUDIENCE, ...environment }))
    vi.stubEnv(name, value);
  const handler = createHandler({ deploy: ['ops'] }, loopbackFetcher);
  const multiValueHeaders = { Authorization: [`Bearer ${issuer.token(claims)}`], ...headers };
  const event = { methodArn: 'arn:aws:execute-api:r:1:api/v1/POST/mcp', multiValueHeaders };
  return handler(event as unknown as APIGatewayRequestAuthorizerEvent);
}
const effect = (Effect: string) => ({ policyDocument: { Statement: [{ Effect }] } });

test('lets in who has a token of the issuer for one of the audiences (G-03)', async () => {
  const owner = verifiedKey(issuer.url, 'user', 'ann');
  expect(await ask({})).toMatchObject({ principalId: owner, ...effect('Allow') });
  const two = { AUDIENCE: `${AUDIENCE} other` };
  expect(await ask({ aud: 'other' }, two)).toMatchObject(effect('Allow'));
  await expect(ask({ aud: 'other' })).rejects.toThrow('Unauthorized');
  await expect(ask({ iss: 'https://other.example' })).rejects.toThrow('Unauthorized');
});

test('asks for the scopes of the server, which blanks divide, and of a tool (G-09)', async () => {
  const SCOPES = ' mcp  more ';
  expect(await ask({ scope: 'mcp more' }, { SCOPES })).toMatchObject(effect('Allow'));
  vi.spyOn(console, 'log').mockImplementation(() => {});
  expect(await ask({ scope: 'mcp' }, { SCOPES })).toMatchObject(effect('Deny'));
  const call = { 'mcp-method': ['tools/call'], 'mcp-name': ['deploy'] };
  expect(await ask({ scope: 'mcp' }, {}, call)).toMatchObject(effect('Deny'));
});

test.each(['SERVER_NAME', 'ISSUER', 'AUDIENCE'])('does not start without %s', (name) => {
  for (const one of ['SERVER_NAME', 'ISSUER', 'AUDIENCE']) vi.stubEnv(one, one === name ? undefined : 'x');
  expect(() => createHandler({})).toThrow(`The environment variable ${name} is not set`);
});

test('reads the keys where JWKS_URI says, if it says so', async () => {
  await expect(ask({}, { JWKS_URI: `${issuer.url}/not-there` })).rejects.toThrow(/404/);
  expect(await ask({}, { JWKS_URI: `${issuer.url}/keys` })).toMatchObject(effect('Allow'));
});

test('counts requests whose token it could not check, and no refused ones', async () => {
  const lines: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    if (String(text).startsWith('{"_aws"')) lines.push(String(text));
    return true;
  });
  const error = vi.spyOn(console, 'error').mockImplementation(() => {});
  vi.spyOn(console, 'log').mockImplementation(() => {});
  await expect(ask({ aud: 'other' })).rejects.toThrow('Unauthorized');
  expect([lines, error.mock.calls]).toEqual([[], []]);
  await expect(ask({}, { JWKS_URI: `${issuer.url}/not-there` })).rejects.toThrow(/404/);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ Server: 'S', AuthorizerErrors: 1 }]);
  expect(error.mock.calls.map(([line]) => JSON.parse(line))).toMatchObject([
    { event: 'unexpected_error', where: 'authorizer' },
  ]);
});
