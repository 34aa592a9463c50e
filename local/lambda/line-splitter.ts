import type { LogStream } from './types.ts';

export interface LineSplitter {
  add(stream: LogStream, text: string): void;
  /** Passes on the last lines, which have no newline. */
  flush(): void;
}

export function lineSplitter(onLine: (line: string, stream: LogStream) => void): LineSplitter {
  const rest = { stdout: '', stderr: '' };
  return {
    add(stream, text) {
      const lines = (rest[stream] + text).split('\n');
      rest[stream] = lines.pop() ?? '';
      for (const line of lines) onLine(line, stream);
    },
    flush() {
      for (const stream of ['stdout', 'stderr'] as const) {
        if (rest[stream] !== '') onLine(rest[stream], stream);
        rest[stream] = '';
      }
    },
  };
}
