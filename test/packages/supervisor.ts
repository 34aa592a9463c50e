import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * `node supervisor.ts COMMAND ARGS…` runs a command as a group of processes. It ends the group when its own input closes, so
 * no process outlives the test that holds the other end of that input, not even if SIGKILL ends the test.
 */
const [command = '', ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'], detached: true });
let ending: Promise<void> | undefined;
const end = () => {
  ending ??= endGroup();
  return ending;
};

process.stdin.once('close', end).resume();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end);
child.once('error', (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
child.once('exit', async (code) => {
  await end();
  process.exit(code ?? 1);
});

/** Asks all processes of the group to end, and kills after 5 s those that are left. */
async function endGroup(): Promise<void> {
  let left = send('SIGTERM');
  for (let checks = 0; left && checks < 100; checks++) {
    await sleep(50);
    left = send(0);
  }
  if (left) send('SIGKILL');
}

/** Sends a signal to the group. Returns false if the group is empty. */
function send(signal: NodeJS.Signals | 0): boolean {
  try {
    return child.pid !== undefined && process.kill(-child.pid, signal);
  } catch {
    return false;
  }
}
