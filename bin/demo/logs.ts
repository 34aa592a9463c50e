import { appendFileSync, writeFileSync } from 'node:fs';
import { terminal } from '../../local/dev/terminal.ts';

export interface LogOptions {
  /** The file that gets every line. It is emptied first. */
  readonly file: string;
  /** Whether to show every line except metrics; otherwise only errors. */
  readonly verbose: boolean;
  readonly show: (text: string) => void;
}

/** Returns the `onLog` of the demo. It keeps every line in a file, and shows errors as `dev` does. */
export function functionLogs({ file, verbose, show }: LogOptions): (source: string, line: string) => void {
  writeFileSync(file, '');
  const { log } = terminal({
    verbose,
    write: (text) => (verbose || text.includes('✗')) && show(text),
    now: () => new Date(),
    nameOf: (name) => name,
  });
  return (source, line) => {
    appendFileSync(file, `${source}: ${line}\n`);
    log(source, line);
  };
}
