import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { ROOT } from '../docs/pages.ts';

const execute = promisify(execFile);

/**
 * The environment of a user: nothing of npm or vitest, and no command of this repository. PACKAGE_TEST_NODE names the
 * folder of another Node to use.
 */
function environment(): NodeJS.ProcessEnv {
  const { PATH = '', PACKAGE_TEST_NODE: node = dirname(process.execPath), ...rest } = process.env;
  const others = PATH.split(delimiter).filter((folder) => !folder.startsWith(ROOT) && !folder.includes('node-gyp-bin'));
  const kept = Object.entries(rest).filter(([name]) => !/^(npm_|VITEST|NODE_|CDK_|TEST$)/i.test(name));
  return {
    ...Object.fromEntries(kept),
    PATH: [node, ...others].join(delimiter),
    // The network is for the registry of npm only.
    CDK_DISABLE_CLI_TELEMETRY: 'true',
    CDK_NOTICES: 'false',
  };
}

/** Runs a command line. Throws, with all it printed, if it fails. */
export async function run(cwd: string, command: string, ...args: readonly string[]): Promise<string> {
  try {
    return (await execute(command, args, { cwd, env: environment(), maxBuffer: 2 ** 26 })).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(' ')} failed\n${stdout}\n${stderr}`, { cause: error });
  }
}

export const install = (cwd: string, ...packages: readonly string[]) =>
  run(cwd, 'npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', ...packages);

/** Starts the server of a project on a free port. Gives its URL, and what ends it and all that it started. */
export async function serve(cwd: string): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const stdio = ['ignore', 'pipe', 'pipe'] as const;
  const server = spawn('npm', ['start'], {
    cwd,
    env: { ...environment(), PORT: '0' },
    stdio: [...stdio],
    detached: true,
  });
  const stop = async () => {
    const ended = server.exitCode === null && once(server, 'exit');
    if (server.pid !== undefined && ended) process.kill(-server.pid, 'SIGTERM');
    await ended;
  };
  try {
    return { url: await readyLine(server), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function readyLine({ stdout, stderr }: ChildProcess): Promise<string> {
  if (stdout === null || stderr === null) throw new Error('The server has no output');
  const errors: string[] = [];
  createInterface(stderr).on('line', (line) => errors.push(line));
  for await (const line of createInterface(stdout)) {
    const [, url] = /^ready (\S+)/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error(`The server did not start\n${errors.join('\n')}`);
}
