import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { callTask } from '../../functions/client/index.ts';
import { ROOT } from '../docs/pages.ts';
import * as added from './cdk-project.ts';
import { install, NEWEST, requireRegistry, run, serve, stopAll } from './shell.ts';

/** In milliseconds: more than one command of the shell may take. */
const LONG = 600_000;
const NAMES = ['mcp-task-server', 'mcp-task-server-local', 'create-mcp-task-server'] as const;
const TOOL = 'tools/count-words.ts';
const COUNTED = { total: 3, counts: { one: 1, two: 2 } };

interface Packed {
  readonly filename: string;
  /** The size of the tarballs, in bytes. */
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

const folder = mkdtempSync(join(tmpdir(), 'mcp-packages-'));
const packed = {} as Record<(typeof NAMES)[number], Packed>;
const tarball = (name: (typeof NAMES)[number]) => join(folder, packed[name].filename);
const rootJson = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

beforeAll(async () => {
  await requireRegistry(folder);
  await run(ROOT, 'npm', 'run', 'build');
  for (const name of NAMES) {
    const printed = await run(join(ROOT, 'dist', name), 'npm', 'pack', '--json', '--pack-destination', folder);
    packed[name] = Object.values(JSON.parse(printed) as Record<string, Packed>)[0] as Packed;
  }
  await Promise.all([makeCdkProject(), makeOwnProject()]);
}, LONG);
afterAll(async () => {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
});

async function makeCdkProject(): Promise<void> {
  const project = join(folder, 'app');
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(project, file)), { recursive: true });
    writeFileSync(join(project, file), text);
  };
  mkdirSync(project);
  const cdk = join(ROOT, 'node_modules/aws-cdk/bin/cdk');
  await run(project, 'node', cdk, 'init', 'app', '--language', 'typescript', '--generate-only');
  const wanted = ['@modelcontextprotocol/client', '@modelcontextprotocol/ext-tasks', 'aws-cdk-lib', 'constructs'];
  const versions = wanted.map((name) => `${name}@${NEWEST ? 'latest' : rootJson.devDependencies[name]}`);
  const packages = [tarball('mcp-task-server'), tarball('mcp-task-server-local')];
  await install(project, ...packages, ...versions, 'typescript-5@npm:typescript@5.9.3');
  write('lib/app-stack.ts', added.stack);
  write('test/app.test.ts', added.test);
  write('call.mts', added.call);
  write(TOOL, readFileSync(join(ROOT, 'bin/create/template', TOOL), 'utf8'));
}

async function makeOwnProject(): Promise<void> {
  const create = ['--yes', `--package=${tarball('create-mcp-task-server')}`, '--', 'create-mcp-task-server'];
  const printed = await run(folder, 'npm', 'exec', ...create, 'my-tools');
  expect(printed).toContain('cd my-tools\n  npm install\n');
  const oldest = ['aws-cdk-lib', 'constructs'].map((name) => `${name}@${rootJson.peerDependencies[name].slice(1)}`);
  await install(join(folder, 'my-tools'), tarball('mcp-task-server'), tarball('mcp-task-server-local'), ...oldest);
}

describe('the tarballs', () => {
  test('take less than 1.9 MB, and hold no source and no test', () => {
    for (const name of NAMES) {
      const paths = packed[name].files.map(({ path }) => path).filter((path) => !path.startsWith('template/'));
      expect(packed[name].size, name).toBeLessThan(1_900_000);
      expect(
        paths.filter((path) => /(?<!\.d)\.ts$|\.test\.|^(test\/|\.)/.test(path)),
        name,
      ).toEqual([]);
    }
    const paths = packed['mcp-task-server'].files.map(({ path }) => path);
    const own = ['endpoint', 'endpointWithEvents', 'reconciler', 'authorizer', 'rotation', 'signals', 'taskEvents'];
    for (const name of [...own, 'eventDelivery']) expect(paths).toContain(`prebuilt/${name}.js`);
    expect(paths).toEqual(
      expect.arrayContaining([
        'python/mcp_task.py',
        'python/mcp_files.py',
        'python/mcp_waits.py',
        'python/mcp_names.py',
        'python/mcp_journal.py',
      ]),
    );
  });

  test('have one version, and may be published', () => {
    for (const name of NAMES) {
      const json = JSON.parse(readFileSync(join(ROOT, 'dist', name, 'package.json'), 'utf8'));
      expect(json, name).toMatchObject({ name, version: rootJson.version, license: 'Apache-2.0' });
      expect(json.private ?? json.scripts ?? json.devDependencies, name).toBeUndefined();
    }
  });
});

describe('in the project of cdk init app --language typescript', () => {
  const project = join(folder, 'app');

  test('one CDK is installed, and no other Node', () => {
    expect(readdirSync(join(project, 'node_modules/.bin'))).not.toContain('node');
    expect(existsSync(join(project, 'node_modules/mcp-task-server/node_modules'))).toBe(false);
  });

  test('it compiles, with the declarations of the packages checked', { timeout: LONG }, async () => {
    await run(project, 'npx', 'tsc', '--skipLibCheck', 'false');
  });

  test.each(['commonjs --moduleResolution node10', 'node16 --moduleResolution node16'])(
    'it compiles with TypeScript 5.9 and older settings: --module %s',
    { timeout: LONG },
    async (module) => {
      const options = `--noEmit --strict --target es2022 --types node,jest --skipLibCheck --module ${module}`.split(
        ' ',
      );
      const files = ['lib/app-stack.ts', 'test/app.test.ts', TOOL];
      await run(project, 'node', 'node_modules/typescript-5/lib/tsc.js', ...options, ...files);
    },
  );

  test('its tests pass under its Jest', { timeout: LONG }, async () => {
    await run(project, 'npm', 'test');
  });

  test('cdk synth bundles the tool, and no function of the server', { timeout: LONG }, async () => {
    await run(project, 'npx', 'cdk', 'synth', '--quiet');
    const files = readdirSync(join(project, 'cdk.out'), { recursive: true, encoding: 'utf8' });
    const endpoint = files.find((file) => file.endsWith('validators.cjs')) ?? '';
    const code = (file: string) => readFileSync(file, 'utf8');
    expect(code(join(project, 'cdk.out', dirname(endpoint), 'index.js'))).toBe(
      code(join(ROOT, 'dist/mcp-task-server/prebuilt/endpoint.js')),
    );
  });

  test('the embedded cloud serves it, and the official client gets a result', { timeout: LONG }, async () => {
    const printed = await run(project, 'npx', 'tsx', 'call.mts');
    expect(JSON.parse(printed)).toEqual({ structuredContent: COUNTED, tasks: 1 });
  });
});

describe('in the project of npm create mcp-task-server, with the oldest CDK that is supported', () => {
  const project = join(folder, 'my-tools');

  test('its files name the project and the versions of this repository', () => {
    const json = JSON.parse(readFileSync(join(ROOT, 'dist/create-mcp-task-server/template/package.json'), 'utf8'));
    expect(json.dependencies).toMatchObject({ 'mcp-task-server': `^${rootJson.version}` });
    expect(JSON.stringify(json)).not.toMatch(/"\*"|undefined/);
    expect(readFileSync(join(project, 'README.md'), 'utf8')).toMatch(/^# my-tools\n/);
    expect(existsSync(join(project, '.gitignore'))).toBe(true);
  });

  test('it compiles, and its test passes', { timeout: LONG }, async () => {
    expect(await run(project, 'npm', 'test')).toMatch(/\btests 1\b/);
  });

  test('npm start serves it; a saved tool runs without a restart', { timeout: LONG }, async () => {
    const server = await serve(project);
    try {
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
      await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
      const count = async () => (await callTask(client, 'count_words', { text: 'one two two' })).structuredContent;
      expect(await count()).toEqual(COUNTED);
      const tool = readFileSync(join(project, TOOL), 'utf8');
      writeFileSync(join(project, TOOL), tool.replace('total: words.length', 'total: words.length * 10'));
      await vi.waitFor(async () => expect(await count()).toEqual({ ...COUNTED, total: 30 }), 20_000);
      await client.close();
    } finally {
      await server.stop();
    }
  });
});
