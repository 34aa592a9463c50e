import type { TaskRecord } from '../../tasks/record.ts';
import { LOG_LEVELS, type LogLevel } from '../../tasks/table/session-notes.ts';
import type { HeldCall } from './held-call.ts';

/** A record's progress as a notification for the client's progress token. Values strictly increase (A-22, C-33). */
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

/** 2025-11-25 only, and only for a session that asked for logs. What a tool reports has level `info`. */
export function logMessage(level: LogLevel | undefined, record: TaskRecord): object | undefined {
  if (level === undefined || record.statusMessage === undefined) return undefined;
  if (LOG_LEVELS.indexOf('info') < LOG_LEVELS.indexOf(level)) return undefined;
  const params = { level: 'info', logger: record.tool, data: record.statusMessage };
  return { jsonrpc: '2.0', method: 'notifications/message', params };
}
