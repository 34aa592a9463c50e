import type { TaskRecord } from '../../tasks/record.ts';
import { LOG_LEVELS, type LogLevel } from '../../tasks/table/session-notes.ts';
import type { HeldCall } from './held-call.ts';

/** What a record's progress is to the client that gave a token: values strictly increase (A-22, C-33). */
export function progressMessage(held: HeldCall, record: TaskRecord): { message: object; value: number } | undefined {
  if (held.progressToken === undefined || record.statusMessage === undefined) return undefined;
  const value = record.progress ?? held.progress + 1;
  if (value <= held.progress) return undefined;
  const params = {
    progressToken: held.progressToken,
    progress: value,
    ...(record.progressTotal !== undefined && { total: record.progressTotal }),
    message: record.statusMessage,
  };
  return { message: { jsonrpc: '2.0', method: 'notifications/progress', params }, value };
}

/** 2025-11-25 only, and only to a session that asked for logs: what a tool reports is information. */
export function logMessage(level: LogLevel | undefined, record: TaskRecord): object | undefined {
  if (level === undefined || record.statusMessage === undefined) return undefined;
  if (LOG_LEVELS.indexOf('info') < LOG_LEVELS.indexOf(level)) return undefined;
  const params = { level: 'info', logger: record.tool, data: record.statusMessage };
  return { jsonrpc: '2.0', method: 'notifications/message', params };
}
