/** The protocol revisions of this endpoint. A date before MODERN is a legacy version. */
export const MODERN = '2026-07-28';
export const LEGACY = '2025-11-25';
/** Spoken, but not listed: same transport as 2025-11-25, no tasks (B-21). */
export const LEGACY_VERSIONS: readonly string[] = [LEGACY, '2025-06-18'];
/** In `server/discover` and in -32022 alike (D-03, D-14). */
export const SUPPORTED: readonly string[] = [MODERN, LEGACY];

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
export const RELATED_TASK = 'io.modelcontextprotocol/related-task';
export const IMMEDIATE_RESPONSE = 'io.modelcontextprotocol/model-immediate-response';
export const meta = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
} as const;

export type Era = 'legacy' | 'modern';
export const isVersionDate = (version: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(version);
