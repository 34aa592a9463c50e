import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Runs the tests of a folder with more in their environment; answers the exit code. */
export async function runTests(folder: string, env: NodeJS.ProcessEnv, ...args: string[]): Promise<number> {
  const vitest = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', folder, ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  });
  const [code] = await once(vitest, 'exit');
  return typeof code === 'number' ? code : 1;
}
