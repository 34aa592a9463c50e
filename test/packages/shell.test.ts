import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { environment, requireRegistry, run, stopAll } from './shell.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mcp-shell-'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await stopAll();
  rmSync(folder, { recursive: true });
});

describe('a command and what it starts', () => {
  // A shell that leads the group, and a process that it starts and does not wait for.
  const command = () => ['sh', '-c', `sleep 600 & echo $$ > ${join(folder, 'group')}; sleep 600`] as const;

  /** The processes of the group. One that has ended counts no more, even if no parent reads its exit code. */
  const processes = (): string[] => {
    const group = readFileSync(join(folder, 'group'), 'utf8').trim();
    const lines = execFileSync('ps', ['-A', '-o', 'pgid=,stat=,args='], { encoding: 'utf8' }).split('\n');
    return lines.filter((line) => line.trim().startsWith(`${group} `) && !/^\s*\d+ Z/.test(line));
  };
  const started = () => vi.waitFor(() => expect(processes()).toHaveLength(3), 20_000);
  const gone = () => vi.waitFor(() => expect(processes()).toEqual([]), 20_000);

  test('end when the test ends that started them', async () => {
    const ended = expect(run(folder, ...command())).rejects.toThrow('sleep 600 failed');
    await started();
    await stopAll();
    expect(processes()).toEqual([]);
    await ended;
  });

  test.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)('end when %s ends the test', async (signal) => {
    const code = `import { run } from ${JSON.stringify(join(import.meta.dirname, 'shell.ts'))};
      await run(${[folder, ...command()].map((text) => JSON.stringify(text)).join(', ')});`;
    const holder = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: 'ignore' });
    await started();
    holder.kill(signal);
    await gone();
  });

  test('end with the command, if it leaves them behind', async () => {
    await run(folder, 'sh', '-c', `sleep 600 > /dev/null 2>&1 & echo $$ > ${join(folder, 'group')}`);
    expect(existsSync(join(folder, 'group'))).toBe(true);
    expect(processes()).toEqual([]);
  });
});

test('a command gets the environment of the user, but not what npm and vitest set for this test', () => {
  const users = { NODE_EXTRA_CA_CERTS: '/ca.pem', NODE_OPTIONS: '--use-system-ca', CDK_DOCKER: 'podman' };
  const settings = { npm_config_registry: 'http://127.0.0.1:9', npm_config_cafile: '/ca.pem' };
  const others = {
    npm_lifecycle_event: 'test',
    npm_package_name: 'x',
    npm_config_loglevel: 'silent',
    NODE_ENV: 'test',
  };
  for (const [name, value] of Object.entries({ ...users, ...settings, ...others })) vi.stubEnv(name, value);
  expect(environment()).toMatchObject({ ...users, ...settings });
  expect(Object.keys(environment()).filter((name) => name in others || name.startsWith('VITEST'))).toEqual([]);
});

describe('without a registry the tests fail early, and npm names the registry', () => {
  test('if no process listens there', async () => {
    vi.stubEnv('npm_config_registry', 'http://127.0.0.1:9');
    await expect(requireRegistry(folder)).rejects.toThrow(/need the registry of npm: npm view .*127\.0\.0\.1:9/s);
  });

  test('if it accepts and never answers', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    vi.stubEnv('npm_config_registry', `http://127.0.0.1:${port}`);
    await expect(requireRegistry(folder, 1)).rejects.toThrow(
      `network timeout at: http://127.0.0.1:${port}/safe-regex2`,
    );
    silent.close();
  });
});
