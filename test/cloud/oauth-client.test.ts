import {
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { createTaskSessionFromClient, resultFromTaskOutcome } from '@modelcontextprotocol/ext-tasks/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Cloud } from '../../local/cloud.ts';
import { authorizationServer } from '../support/authorization-server.ts';
import { startOAuthCloud } from '../support/oauth-cloud.ts';
import { startIssuer, type TestIssuer } from '../support/oidc.ts';

const { routes, asked } = authorizationServer('ann');
let issuer: TestIssuer;
let cloud: Cloud;
beforeAll(async () => {
  issuer = await startIssuer(routes);
  cloud = await startOAuthCloud(issuer.url);
});
afterAll(async () => {
  await cloud?.stop();
  await issuer?.stop();
});

const REDIRECT = 'http://127.0.0.1/callback';

/** What a host does for its user, who agrees at once: `answer` is what the browser brings back. */
function host() {
  let answer = new URLSearchParams();
  const kept: { client?: never; tokens?: never; verifier: string; discovery?: never } = { verifier: '' };
  const provider: OAuthClientProvider = {
    redirectUrl: REDIRECT,
    clientMetadata: { client_name: 'test', redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none' },
    clientInformation: () => kept.client,
    saveClientInformation: (client) => void Object.assign(kept, { client }),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => void Object.assign(kept, { tokens }),
    saveCodeVerifier: (verifier) => void Object.assign(kept, { verifier }),
    codeVerifier: () => kept.verifier,
    saveDiscoveryState: (discovery) => void Object.assign(kept, { discovery }),
    discoveryState: () => kept.discovery,
    async redirectToAuthorization(url) {
      const { headers } = await fetch(url, { redirect: 'manual' });
      answer = new URL(headers.get('location') ?? '').searchParams;
    },
  };
  return { provider, answer: () => answer };
}

describe.each([
  ['2025-11-25', 'legacy' as const],
  ['2026-07-28', { pin: '2026-07-28' } as const],
])('the official client in %s', (_era, mode) => {
  test('knows nothing but the URL: it finds the issuer, registers, gets a token and runs a task; a tool that needs more makes it ask for more', async () => {
    const { provider, answer } = host();
    const transport = () => new StreamableHTTPClientTransport(new URL(`${cloud.url}/mcp`), { authProvider: provider });
    const open = () => new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    const before = asked.length;

    const first = transport();
    await expect(open().connect(first)).rejects.toThrow(UnauthorizedError);
    await first.finishAuth(answer());
    const client = open();
    const second = transport();
    await client.connect(second);
    expect(asked.slice(before)).toEqual(['mcp']);

    expect(await client.callTool({ name: 'echo', arguments: { a: 1 } })).toMatchObject({ structuredContent: { a: 1 } });
    if (mode === 'legacy') {
      const session = createTaskSessionFromClient(client, { endpointId: 'test' });
      const execution = await session.callTool('echo', { b: 2 }, { task: { preference: 'require' } });
      expect(execution.kind).toBe('task');
      const { outcome } = await execution.settle();
      expect(resultFromTaskOutcome(outcome)).toMatchObject({ structuredContent: { b: 2 } });
      expect((await session.listTasks()).tasks.length).toBe(2);
      await session.close();
    }

    const scoped = () => client.callTool({ name: 'event', arguments: { c: 3 } });
    await expect(scoped()).rejects.toThrow(UnauthorizedError);
    expect(asked.slice(before)).toEqual(['mcp', 'mcp ops:deploy']);
    await second.finishAuth(answer());
    expect(await scoped()).toMatchObject({ structuredContent: { event: { arguments: { c: 3 } } } });
    await client.close();
  });
});
