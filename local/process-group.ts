import type { ChildProcess } from 'node:child_process';

/** Ends a process that leads a group, with all that it has started. Windows has no groups of processes. */
export function endGroup(child: ChildProcess): void {
  try {
    process.kill(-(child.pid ?? 0), 'SIGKILL');
  } catch {
    child.kill('SIGKILL');
  }
}
