import type { Client as Client2 } from '@modelcontextprotocol/client';
import type { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';

/** The clients that `OfficialClient` stands for. */
export type KnownClient = Client1 | Client2;

/** Whether the connection speaks 2026-07-28. */
export function isModern(client: KnownClient): client is Client2 {
  return 'getProtocolEra' in client && client.getProtocolEra() === 'modern';
}
