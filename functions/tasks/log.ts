import { McpError } from './errors.ts';
import { outstanding } from './input.ts';
import type { TaskRecord } from './record.ts';
import { beginning, isObject, parsed } from './shape.ts';

/** The name of an error. Anything else in its place may be text that a tool wrote. */
const NAME = /^[A-Za-z0-9_.:-]{1,128}$/;

export const isErrorName = (value: unknown): value is string => typeof value === 'string' && NAME.test(value);

interface AwsClientError extends Error {
  readonly code?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number; readonly requestId?: string };
}

/**
 * What a log may say of an error: its name, where in the code it was thrown, and the request id of AWS. Never its
 * message: it may quote what a client or a tool sent, as messages of JSON.parse and of AWS do.
 */
export function errorFacts(error: unknown): object {
  if (!(error instanceof Error)) return { error: 'Error' };
  const { name, code, message, stack = '', $metadata } = error as AwsClientError;
  // The stack repeats the message, whose lines could pass for lines of the stack.
  const at = message.includes('\n') ? [] : stack.split('\n').filter((line) => /^ +at .*:\d+:\d+\)?$/.test(line));
  return {
    error: isErrorName(name) ? name : 'Error',
    code: isErrorName(code) ? code : undefined,
    status: $metadata?.httpStatusCode,
    requestId: $metadata?.requestId,
    at: at.slice(0, 3).map((line) => line.trim()),
  };
}

/** One line of JSON for operators. @param facts nothing that a client or a tool wrote */
export function logEvent(event: string, facts: object = {}, level: 'error' | 'warn' | 'log' = 'error'): void {
  console[level](JSON.stringify({ event, ...facts }));
}

/** As `logEvent`, but each kind of failure once: a request that waits through an outage meets it at each of its reads. */
export function logOfRequest(): typeof logEvent {
  const written = new Set<string>();
  return (event, facts: { where?: unknown; error?: unknown } = {}, level) => {
    const kind = `${facts.where} ${facts.error}`;
    if (written.has(kind)) return;
    if (facts.where !== undefined) written.add(kind);
    logEvent(event, facts, level);
  };
}

/** The namespace of all metrics of this project. */
export const NAMESPACE = 'McpTaskServer';

/**
 * A line in CloudWatch's embedded metric format, none without metrics. A metric whose name begins with `Time` is
 * in ms, all others are counts.
 */
export function metricLines(
  metrics: Readonly<Record<string, number>>,
  members: Readonly<Record<string, string>>,
  now: number,
  /** Sets of members that are dimensions. @default one set with all of them */
  sets: readonly (readonly string[])[] = [Object.keys(members)],
): string[] {
  const names = Object.keys(metrics);
  if (names.length === 0) return [];
  const directive = {
    Namespace: NAMESPACE,
    Dimensions: sets,
    Metrics: names.map((Name) => ({ Name, Unit: Name.startsWith('Time') ? 'Milliseconds' : 'Count' })),
  };
  return [JSON.stringify({ _aws: { Timestamp: now, CloudWatchMetrics: [directive] }, ...members, ...metrics })];
}

/** Not by `console`, which may add to the line. */
export function print(lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}

/** For operators only: no client sees it. */
export function logUnexpected(
  error: unknown,
  where: string,
  log: (event: string, facts: Readonly<Record<string, unknown>>) => void = logEvent,
): void {
  if (!(error instanceof McpError)) log('unexpected_error', { where, ...errorFacts(error) });
}

/**
 * Answers under keys that are not open are acknowledged (E-18, B-19), so only the log says which keys were open. It
 * does not repeat the keys of the client: they may hold anything.
 */
export function logIgnored(record: TaskRecord, ignored: number): void {
  const { taskId, tool, status } = record;
  const open = Object.keys(outstanding(record)).slice(0, 5);
  const openKeys = open.map((key) => beginning(key, 64, 100));
  logEvent('answer_ignored', { taskId, tool, status, ignored, openKeys }, 'warn');
}

/** The name in an error, which is JSON text. Only the form of a name passes: anything else may be text of a tool. */
export function failureName(error: string | undefined): string | undefined {
  const value = parsed(error ?? '');
  const reason = isObject(value) && isObject(value.data) ? value.data.reason : undefined;
  return isErrorName(reason) ? reason : undefined;
}
