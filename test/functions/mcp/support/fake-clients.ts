import { fakeServer } from './fake-server.ts';
import { endpoint } from './posted.ts';

export const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

/** Clients of both revisions, each request by itself, of one fake server. */
export function clients(fake = fakeServer()) {
  const send = async (headers: Record<string, string>, method: string, params: object) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const reply = await endpoint({ method: 'POST', headers, body }, fake.server);
    return {
      ...reply,
      ...(JSON.parse(String(reply.body)) as { result?: never; error?: { code: number; message: string } }),
    };
  };
  return {
    ...fake,
    modern: (method: string, params: Record<string, unknown> = {}, capabilities: object = TASKS) => {
      const name = params.name ?? params.taskId;
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': capabilities,
      };
      const headers = {
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        ...(typeof name === 'string' && { 'mcp-name': name }),
      };
      return send(headers, method, { ...params, _meta });
    },
    legacy: (method: string, params: object = {}, version = '2025-11-25', session?: string) =>
      send({ 'mcp-protocol-version': version, ...(session && { 'mcp-session-id': session }) }, method, params),
  };
}
