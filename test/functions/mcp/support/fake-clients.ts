import { TASKS } from '../../../support/clients.ts';
import { fakeServer } from './fake-server.ts';
import { exchanged, modernCall } from './posted.ts';

/** Clients of both revisions, each request by itself, of one fake server. */
export function clients(fake = fakeServer()) {
  return {
    ...fake,
    modern: (method: string, params: Record<string, unknown> = {}, capabilities: object = TASKS) =>
      modernCall(fake.server, method, params, { capabilities }),
    legacy: (method: string, params: object = {}, version = '2025-11-25', session?: string) => {
      const headers = { 'mcp-protocol-version': version, 'mcp-session-id': session };
      return exchanged(fake.server, { jsonrpc: '2.0', id: 1, method, params }, headers);
    },
  };
}
