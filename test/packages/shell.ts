import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { ROOT } from '../docs/pages.ts';

type Running = ChildProcessByStdio<Writable, Readable, Readable>;

/** Longest time of one command, in milliseconds: many times what an install takes on a busy machine. */
const LONGEST = 480_000;

/** What vitest sets in the process of a test. Jest, npm and the CDK read some of it. */
const OF_VITEST = /^(VITEST.*|NODE_ENV|TEST|DEV|PROD|MODE|SSR|BASE_URL|FORCE_TTY)$/;

/**
 * What npm sets for a script of this repository: its package, its folder, its Node. The user's own settings (`npm_config_…`) are
 * kept, but for the log level: `npm run --silent` must not hide why an install fails.
 */
const OF_NPM = /^(npm_(?!config_).*|npm_config_(local_prefix|loglevel)|INIT_CWD|NODE)$/i;

/**
 * Returns the environment of the user: all but what vitest and npm set for this test, and the commands of this repository.
 * `PACKAGE_TEST_NODE` names the folder of another Node to use.
 */
export function environment(): NodeJS.ProcessEnv {
  const { PATH = '', PACKAGE_TEST_NODE: node = dirname(process.execPath), ...rest } = process.env;
  const others = PATH.split(delimiter).filter((folder) => !folder.startsWith(ROOT) && !folder.includes('node-gyp-bin'));
  const kept = Object.entries(rest).filter(([name]) => !OF_VITEST.test(name) && !OF_NPM.test(name));
  return {
    ...Object.fromEntries(kept),
    PATH: [node, ...others].join(delimiter),
    // The network is for the registry of npm only.
    CDK_DISABLE_CLI_TELEMETRY: 'true',
    CDK_NOTICES: 'false',
  };
}

const running = new Set<Running>();

// vitest itself is gone, without a word to this process, which would go on with its test.
process.once('disconnect', () => process.exit(1));

function start(cwd: string, command: string, args: readonly string[], env = environment()): Running {
  const supervisor = join(import.meta.dirname, 'supervisor.ts');
  const child = spawn(process.execPath, [supervisor, command, ...args], { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
  running.add(child);
  child.once('exit', () => running.delete(child));
  // The process may have ended already.
  child.stdin.on('error', () => {});
  return child;
}

async function stop(child: Running): Promise<void> {
  const exit = running.has(child) && once(child, 'exit');
  child.stdin.end();
  await exit;
}

/** Ends all that is still running, as after the time-out of a hook. */
export const stopAll = async (): Promise<void> => void (await Promise.all([...running].map(stop)));

/** Runs a command line. Throws, with all it printed, if it fails or takes longer than 8 minutes. */
export async function run(cwd: string, command: string, ...args: readonly string[]): Promise<string> {
  const child = start(cwd, command, args);
  let reason = 'failed';
  const timer = setTimeout(() => {
    reason = `did not end within ${LONGEST / 1000} s`;
    child.stdin.end();
  }, LONGEST);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  clearTimeout(timer);
  if (code !== 0) throw new Error(`${[command, ...args].join(' ')} ${reason}\n${stdout}\n${stderr}`);
  return stdout;
}

/**
 * Throws npm's error if the registry does not answer within `seconds`. An install would wait for 15 minutes: three
 * attempts of five minutes. It asks for a small package that the server depends on.
 */
export async function requireRegistry(cwd: string, seconds = 15): Promise<void> {
  const atOnce = ['--fetch-retries=0', `--fetch-timeout=${seconds * 1000}`];
  await run(cwd, 'npm', 'view', 'safe-regex2', 'dist-tags.latest', ...atOnce).catch(({ message }: Error) => {
    throw new Error(`These tests need the registry of npm: ${message}`);
  });
}

/** Whether the tests take the newest versions that the ranges of the packages allow. */
export const NEWEST = process.env.PACKAGE_TEST_NEWEST === '1';

/** Installs packages as they were when this repository's lockfile last changed, so that a result changes with a commit only. */
export function install(cwd: string, ...packages: readonly string[]): Promise<string> {
  const locked = execFileSync('git', ['log', '-1', '--format=%cI', '--', 'package-lock.json'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const before = NEWEST ? [] : [`--before=${locked.trim()}`];
  return run(cwd, 'npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', ...before, ...packages);
}

/** Starts the server of a project on a free port. Returns its URL, and a function that ends all its processes. */
export async function serve(cwd: string): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const server = start(cwd, 'npm', ['start'], { ...environment(), PORT: '0' });
  const errors = text(server.stderr);
  for await (const line of createInterface(server.stdout)) {
    const [, url] = /^ready (\S+)/.exec(line) ?? [];
    if (url === undefined) continue;
    server.stdout.resume();
    return { url, stop: () => stop(server) };
  }
  throw new Error(`The server did not start\n${await errors}`);
}
