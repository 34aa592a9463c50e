/** A version is a date. Dates before this one are legacy versions. */
export const MODERN = '2026-07-28';
export const LEGACY = '2025-11-25';
/** 2025-06-18 is served, but not listed in SUPPORTED: same transport as 2025-11-25, no tasks (B-21). */
export const LEGACY_VERSIONS: readonly string[] = [LEGACY, '2025-06-18'];
/** What `server/discover` and the error -32022 list (D-03, D-14). */
export const SUPPORTED: readonly string[] = [MODERN, LEGACY];

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
export const EVENTS_EXTENSION = 'io.modelcontextprotocol/events';
export const RELATED_TASK = 'io.modelcontextprotocol/related-task';
export const IMMEDIATE_RESPONSE = 'io.modelcontextprotocol/model-immediate-response';
export const meta = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
} as const;

export type Era = 'legacy' | 'modern';
/** Whether a header names a version that has no sessions: 2026-07-28, or a later one. */
export const isModern = (version = ''): boolean => isVersionDate(version) && version >= MODERN;
export const isVersionDate = (version: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(version);
