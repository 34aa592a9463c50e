import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** `file.ts(3,9): error TS2322: …` */
const PROBLEM = /^(.+)\((\d+),(\d+)\): error (TS\d+: .*)$/;

/**
 * Runs the project's own TypeScript beside `dev`: nothing waits for it, and a tool with a type error runs.
 * Does nothing in a project without TypeScript or `tsconfig.json`.
 *
 * @param fails whether the app or a tool does not run: its error has been shown, and the next save checks again
 */
export function typeCheck(folder: string, show: (problem: string) => void, fails: () => Promise<boolean>) {
  const tsc = join(folder, 'node_modules/typescript/bin/tsc');
  let shown = new Set<string>();
  let running: ChildProcess | undefined;
  let again = false;
  let stopped = false;

  /** Checks all files, and again if they change meanwhile. Shows each type error once. */
  function check(): void {
    if (stopped || !existsSync(tsc) || !existsSync(join(folder, 'tsconfig.json'))) return;
    again = running !== undefined;
    if (again) return;
    const problems = new Set<string>();
    const child = spawn(process.execPath, [tsc, '--noEmit', '--pretty', 'false'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    running = child;
    createInterface(child.stdout).on('line', (line) => {
      const [, file, row, column, text] = PROBLEM.exec(line) ?? [];
      if (text !== undefined) problems.add(`${file}:${row}:${column}: ${text}`);
    });
    child.once('error', () => {});
    child.once('close', async () => {
      // A problem of an older save may be mended by now.
      if (!again && !(await fails()) && !again) {
        for (const problem of problems) if (!stopped && !shown.has(problem)) show(problem);
        shown = problems;
      }
      running = undefined;
      if (again) check();
    });
  }
  return {
    check,
    stop(): void {
      stopped = true;
      running?.kill();
    },
  };
}
