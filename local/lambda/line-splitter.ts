import type { LogStream } from './types.ts';

export type LineSplitter = ReturnType<typeof lineSplitter>;

export function lineSplitter(onLine: (line: string, stream: LogStream) => void) {
  const rest = { stdout: '', stderr: '' };
  return {
    add(stream: LogStream, text: string): void {
      const lines = (rest[stream] + text).split('\n');
      rest[stream] = lines.pop() ?? '';
      for (const line of lines) onLine(line, stream);
    },
    /** Passes on the last lines, which have no newline. */
    flush(): void {
      for (const stream of ['stdout', 'stderr'] as const) {
        if (rest[stream] !== '') onLine(rest[stream], stream);
        rest[stream] = '';
      }
    },
  };
}
