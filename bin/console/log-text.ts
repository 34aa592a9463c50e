import type { LogLine } from '../../functions/operator/logs.ts';
import { isObject, parsed } from '../../functions/tasks/shape.ts';

/** A log line for people. */
export interface LogText {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly source: string;
  readonly text: string;
  /** Whether it reports an error. */
  readonly bad: boolean;
}

/** Facts that every line of one task repeats. */
const KNOWN = ['tool', 'taskId', 'round', 'attempt', 'requestId', 'timestamp'];

/** Turns events of the server, a function's lines in Lambda's JSON format, and its errors into text. Others stay unchanged. */
export function logText({ at, source, line }: LogLine): LogText {
  const crash = line.startsWith('Invoke Error ') ? parsed(line.slice('Invoke Error '.length)) : undefined;
  // The page shows the stack of the error above the log.
  if (isObject(crash)) return { at, source, bad: true, text: `${crash.errorType}: ${crash.errorMessage}` };
  const facts = parsed(line);
  if (!isObject(facts)) return { at, source, bad: false, text: line };
  const { event, action, level, message } = facts;
  if (typeof event === 'string') {
    const name = event === 'audit' ? String(action) : event;
    return { at, source, bad: event !== 'audit', text: [name, ...named(facts, ['event', 'action'])].join(', ') };
  }
  if (typeof level !== 'string' || message === undefined) return { at, source, bad: false, text: line };
  return { at, source, bad: level === 'ERROR' || level === 'FATAL', text: saidIn(message) };
}

/** A text such as `status failed` for each fact that the page does not show elsewhere. */
const named = (facts: Readonly<Record<string, unknown>>, but: readonly string[]): string[] =>
  Object.entries(facts)
    .filter(([name]) => !KNOWN.includes(name) && !but.includes(name))
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`);

/** The message of a tool: `defineTool` puts the ids of the task beside it. */
function saidIn(message: unknown): string {
  if (!isObject(message)) return typeof message === 'string' ? message : JSON.stringify(message);
  const { errorType, errorMessage, stackTrace, ...facts } = message;
  if (Array.isArray(stackTrace)) {
    const calls = stackTrace.filter((one) => /^\s/.test(String(one)));
    return [`${errorType}: ${errorMessage}`, ...calls].join('\n');
  }
  if (facts.tool !== undefined && 'message' in facts) return saidIn(facts.message);
  return JSON.stringify(message);
}
