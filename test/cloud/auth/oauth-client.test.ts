import {
  auth,
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { createTaskSessionFromClient, resultFromTaskOutcome } from '@modelcontextprotocol/ext-tasks/client';
import { auth as oldAuth } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Cloud } from '../../../local/cloud.ts';
import {
  type AuthorizationServer,
  CLIENT,
  REDIRECT,
  startAuthorizationServer,
} from '../../support/authorization-server.ts';
import { startOAuthCloud } from '../../support/oauth-cloud.ts';

const ALL = 'mcp ops:deploy ops:read';
let server: AuthorizationServer;
let cloud: Cloud;
beforeAll(async () => {
  server = await startAuthorizationServer(ALL.split(' '));
  cloud = await startOAuthCloud(server.url);
});
afterAll(async () => {
  await cloud?.stop();
  await server?.stop();
});
const url = () => new URL(`${cloud.url}/mcp`);

/** A host's provider for its user: stores tokens, and opens a browser. `asked` has the scopes of each request. */
function host() {
  const asked: string[] = [];
  let answer = new URLSearchParams();
  const kept: { tokens?: never; verifier: string; discovery?: never } = { verifier: '' };
  const provider: OAuthClientProvider = {
    redirectUrl: REDIRECT,
    clientMetadata: { client_name: 'test', redirect_uris: [REDIRECT] },
    clientInformation: () => ({ client_id: CLIENT, issuer: server.url }),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => void Object.assign(kept, { tokens }),
    saveCodeVerifier: (verifier) => void Object.assign(kept, { verifier }),
    codeVerifier: () => kept.verifier,
    saveDiscoveryState: (discovery) => void Object.assign(kept, { discovery }),
    discoveryState: () => kept.discovery,
    async redirectToAuthorization(to) {
      asked.push((to.searchParams.get('scope') ?? '').split(' ').sort().join(' '));
      answer = await server.browse(to);
    },
  };
  return { provider, asked, answer: () => answer };
}

describe.each([
  ['2025-11-25', 'legacy' as const],
  ['2026-07-28', { pin: '2026-07-28' } as const],
])('the official client 2.4 in %s', (_era, mode) => {
  const start = () => {
    const { provider, asked, answer } = host();
    const transport = () => new StreamableHTTPClientTransport(url(), { authProvider: provider });
    const open = () => new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    /** Connects, with as many requests for a token as it takes. */
    const connect = async () => {
      for (;;) {
        const [client, to] = [open(), transport()];
        try {
          await client.connect(to);
          return { client, to };
        } catch (error) {
          if (!(error instanceof UnauthorizedError)) throw error;
          await to.finishAuth(answer());
        }
      }
    };
    return { provider, asked, answer, transport, connect };
  };

  test('knows nothing but the URL: it finds the issuer, gets a token, and runs a task', async () => {
    const { asked, connect } = start();
    const { client } = await connect();
    expect(asked).toEqual(['mcp']);
    expect(await client.callTool({ name: 'echo', arguments: { a: 1 } })).toMatchObject({ structuredContent: { a: 1 } });
    if (mode === 'legacy') {
      const session = createTaskSessionFromClient(client, { endpointId: 'test' });
      const execution = await session.callTool('echo', { b: 2 }, { task: { preference: 'require' } });
      expect(execution.kind).toBe('task');
      const { outcome } = await execution.settle();
      expect(resultFromTaskOutcome(outcome)).toMatchObject({ structuredContent: { b: 2 } });
      await session.close();
    }
    await client.close();
  });

  test('whose token lacks a scope of the server asks for more by the 403 (G-09)', async () => {
    const { provider, asked, answer, transport, connect } = start();
    // A token of before the server asked for `mcp`.
    await auth(provider, { serverUrl: url(), scope: 'ops:read' });
    await transport().finishAuth(answer());
    const { client } = await connect();
    expect(asked).toEqual(['ops:read', ALL]);
    expect(await client.callTool({ name: 'echo', arguments: { a: 1 } })).toMatchObject({ structuredContent: { a: 1 } });
    await client.close();
  });

  test('whose token lacks the scope of a tool asks for more', async () => {
    const { asked, answer, connect } = start();
    const { client, to } = await connect();
    const call = () => client.callTool({ name: 'event', arguments: { c: 3 } });
    const done = { structuredContent: { event: { arguments: { c: 3 } } } };
    if (mode !== 'legacy') {
      // By the 403 of API Gateway, which has the header.
      await expect(call()).rejects.toThrow(UnauthorizedError);
      expect(asked).toEqual(['mcp', ALL]);
      await to.finishAuth(answer());
      expect(await call()).toMatchObject(done);
    } else {
      // The endpoint cannot send the header: the host reads the scopes in the error.
      await expect(call()).rejects.toMatchObject({
        data: { status: 403, text: expect.stringContaining('"scopes":["mcp","ops:deploy"]') },
      });
    }
    await client.close();
  });
});

describe('SDK 1.32', () => {
  const start = () => {
    const { provider, asked, answer } = host();
    const old = provider as never;
    const transport = () => new OldTransport(url(), { authProvider: old });
    const connect = async () => {
      for (;;) {
        const client = new OldClient({ name: 'test', version: '1' });
        const to = transport();
        try {
          await client.connect(to as never);
          return { client, to };
        } catch (error) {
          if ((error as Error).constructor.name !== 'UnauthorizedError') throw error;
          await to.finishAuth(answer().get('code') ?? '');
        }
      }
    };
    return { old, asked, answer, transport, connect };
  };

  test('whose token lacks a scope of the server asks for more by the 403 (G-09)', async () => {
    const { old, asked, answer, transport, connect } = start();
    await oldAuth(old, { serverUrl: url(), scope: 'ops:read' });
    await transport().finishAuth(answer().get('code') ?? '');
    const { client } = await connect();
    expect(asked).toEqual(['ops:read', ALL]);
    expect(await client.callTool({ name: 'event', arguments: { a: 1 } })).toMatchObject({
      structuredContent: { event: { arguments: { a: 1 } } },
    });
    await client.close();
  });

  test("whose token lacks a tool's scope gets its name: its host asks for it", async () => {
    const { old, asked, answer, connect } = start();
    const { client, to } = await connect();
    const call = () => client.callTool({ name: 'event', arguments: { c: 3 } });
    const error = await call().then(
      () => expect.unreachable(),
      (thrown: Error & { code: number }) => thrown,
    );
    expect(error.code).toBe(403);
    const body = JSON.parse(error.message.slice(error.message.indexOf('{')));
    const { scopes } = body.error.data;
    expect(scopes).toEqual(['mcp', 'ops:deploy']);
    await oldAuth(old, { serverUrl: url(), scope: scopes.join(' ') });
    expect(asked).toEqual(['mcp', 'mcp ops:deploy']);
    await to.finishAuth(answer().get('code') ?? '');
    expect(await call()).toMatchObject({ structuredContent: { event: { arguments: { c: 3 } } } });
    await client.close();
  });
});
