import { describe, expect, test } from 'vitest';
import type { ServerContext } from '../../../../functions/mcp/context.ts';
import { checkCallScopes, checkScopes, hasScopes } from '../../../../functions/mcp/identity/tool-scopes.ts';
import type { RpcMessage } from '../../../../functions/mcp/protocol/jsonrpc.ts';
import { fakeServer, manifest } from '../support/fake-server.ts';

describe('what a caller may do with a tool', () => {
  const oauth = (more: Partial<ServerContext> = {}) =>
    fakeServer({ manifest: { ...manifest, auth: 'oauth', scopes: ['mcp'] }, ...more });
  const entryOf = (name: string, scopes?: string[]) => ({
    ...{ validate: () => true, validateOutput: undefined },
    entry: { ...manifest.tools[0], name, ...(scopes && { scopes }) },
  });
  const tools = new Map([
    ['open', entryOf('open')],
    ['deploy', entryOf('deploy', ['ops'])],
  ]) as unknown as ServerContext['tools'];
  const principal = (...scopes: string[]) => ({ kind: 'verified', key: 'owner#a', scopes }) as const;

  test('is what its scopes allow: of the tool now, or of its task if the tool is gone (G-16)', () => {
    const { server } = oauth({ tools });
    const may = (tool: string, scopes: string[] | undefined, ...has: string[]) =>
      hasScopes(principal(...has), { tool, ...(scopes && { scopes }) }, server);
    expect([may('open', undefined), may('deploy', undefined), may('deploy', undefined, 'ops')]).toEqual([
      true,
      false,
      true,
    ]);
    expect([may('open', ['x']), may('gone', ['x']), may('gone', ['x'], 'x'), may('gone', undefined)]).toEqual([
      ...[true, false, true, true],
    ]);
    expect(hasScopes({ kind: 'anonymous' }, { tool: 'deploy' }, server)).toBe(false);
    expect(hasScopes({ kind: 'anonymous' }, { tool: 'open' }, server)).toBe(true);
  });

  test('is refused with the scopes to ask for, and audited (G-09)', () => {
    const { server, audited } = oauth({ tools });
    const wanted = { tool: 'deploy', taskId: 't' };
    expect(() => checkScopes(principal('ops'), wanted, server)).not.toThrow();
    expect(audited).toEqual([]);
    expect(() => checkScopes(principal('mcp'), wanted, server)).toThrow('get a token with the scopes ops');
    expect(audited.map((line) => JSON.parse(line))).toEqual([
      { ...{ event: 'audit', action: 'denied', owner: 'owner#a', ...wanted }, reason: 'insufficient_scope' },
    ]);
  });

  test('is checked of calls of tools alone (G-09)', () => {
    const { server } = oauth({ tools });
    const message = (method: string, kind = 'request') =>
      ({ kind, method, params: { name: 'deploy' } }) as unknown as RpcMessage;
    expect(() => checkCallScopes(principal('mcp'), message('tools/call'), server)).toThrow('scopes ops');
    expect(() => checkCallScopes(principal('mcp', 'ops'), message('tools/call'), server)).not.toThrow();
    expect(() => checkCallScopes(principal('mcp'), message('tasks/get'), server)).not.toThrow();
    expect(() => checkCallScopes(principal('mcp'), message('tools/call', 'notification'), server)).not.toThrow();
  });
});
