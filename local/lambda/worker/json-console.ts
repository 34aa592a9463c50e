import { format } from 'node:util';

/** From the least to the most important. */
const LEVELS = { trace: 'TRACE', debug: 'DEBUG', info: 'INFO', log: 'INFO', warn: 'WARN', error: 'ERROR' } as const;
const ORDER: readonly string[] = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'];

/**
 * The console of a function with the log format JSON: one object per line, and nothing below its level.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-logformat.html
 */
export function installJsonConsole(level: string, requestId: () => string | undefined): void {
  for (const [method, name] of Object.entries(LEVELS)) {
    const heard = ORDER.indexOf(name) >= ORDER.indexOf(level);
    const out = name === 'WARN' || name === 'ERROR' ? process.stderr : process.stdout;
    console[method as keyof typeof LEVELS] = (...said: unknown[]) => {
      if (!heard) return;
      const head = { timestamp: new Date().toISOString(), level: name, requestId: requestId() };
      out.write(`${textOf(head, said)}\n`);
    };
  }
}

function textOf(head: object, said: readonly unknown[]): string {
  try {
    if (said.length === 1) return JSON.stringify({ ...head, message: said[0] }, errors);
  } catch {
    // JSON cannot hold it: the line has text.
  }
  const error = said.find((one) => one instanceof Error);
  return JSON.stringify({ ...head, message: format(...said), ...(error && facts(error)) });
}

const facts = (error: Error) => ({
  errorType: error.constructor.name,
  errorMessage: error.message,
  stackTrace: error.stack?.split('\n'),
});

const errors = (_key: string, value: unknown) => (value instanceof Error ? { ...facts(value), ...value } : value);
