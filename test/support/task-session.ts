import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  type ApplicationInputCallbacks,
  createTaskSessionFromClient,
  type RawClientDispatch,
  type TaskEnabledSession,
} from '@modelcontextprotocol/ext-tasks/client';
import type { JsonValue } from '@modelcontextprotocol/ext-tasks/core';

const PROTOCOL = '2026-07-28';
const clientInfo = { name: 'mcp-task-server-demo', version: '1.0.0' };
const clientCapabilities = { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } };

export type AskPerson = ApplicationInputCallbacks['elicitation'];

/** The official client with the official tasks package, speaking 2026-07-28. */
export async function openTaskSession(
  url: string,
  ask: AskPerson,
): Promise<{ client: Client; session: TaskEnabledSession; close: () => Promise<void> }> {
  const client = new Client(clientInfo, {
    capabilities: clientCapabilities,
    versionNegotiation: { mode: { pin: PROTOCOL } },
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const session = createTaskSessionFromClient(client, {
    endpointId: url,
    rawDispatch: dispatchTo(url),
    v2RequestFraming: { protocolVersion: PROTOCOL, clientInfo, clientCapabilities },
    onInputRequest: async (request, context) => {
      if (request.kind !== 'elicitation') throw new Error(`Cannot answer a ${request.kind} request`);
      return (await ask(request, context)) as never;
    },
  });
  return {
    client,
    session,
    async close() {
      await session.close();
      await client.close();
    },
  };
}

/** Sends task requests without the client's own request codec, which does not know the tasks extension yet. */
function dispatchTo(url: string): RawClientDispatch {
  let id = 0;
  return async (request, options) => {
    const { method, params } = request as { method: string; params: Record<string, JsonValue> };
    const name = params.name ?? params.taskId;
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': PROTOCOL,
        'mcp-method': method,
        ...(typeof name === 'string' && { 'mcp-name': name }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: `task-${++id}`, method, params }),
      ...(options?.signal && { signal: options.signal }),
    });
    const answer = (await response.json()) as { result?: JsonValue; error?: { code: number; message: string } };
    if (answer.error !== undefined) return { kind: 'error', error: answer.error as never };
    return { kind: 'result', result: answer.result ?? {} };
  };
}
