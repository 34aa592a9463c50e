import { errorFacts } from './error-facts.ts';
import { McpError } from './errors.ts';
import { outstanding } from './input.ts';
import type { TaskRecord } from './record.ts';

/** For operators only: no client sees it. */
export function logUnexpected(error: unknown, where: string): void {
  if (error instanceof McpError) return;
  console.error(JSON.stringify({ event: 'unexpected_error', where, ...errorFacts(error) }));
}

/**
 * Answers under keys that are not open are acknowledged (E-18, B-19), so only the log says which keys were open. It
 * does not repeat the keys of the client: they may hold anything.
 */
export function logIgnored(record: TaskRecord, ignored: number): void {
  const { taskId, tool, status } = record;
  const open = Object.keys(outstanding(record)).slice(0, 20);
  const openKeys = open.map((key) => key.slice(0, 64));
  console.warn(JSON.stringify({ event: 'answer_ignored', taskId, tool, status, ignored, openKeys }));
}
