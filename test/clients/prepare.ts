import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ForeignClient } from './catalog.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Kept from run to run; git ignores it. */
const CACHE = join(ROOT, '.cache/clients');

/** The toolchain of a client is not on this machine. */
export class NoToolchain extends Error {}

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Installs or builds a client. Throws NoToolchain when the machine cannot, and otherwise with what the tool printed. */
export async function prepare({ folder, toolchain }: ForeignClient): Promise<Command> {
  const source = join(import.meta.dirname, folder);
  mkdirSync(CACHE, { recursive: true });
  const out = join(CACHE, folder);
  if (toolchain === 'node') return { file: process.execPath, args: [join(source, 'main.ts')] };
  if (toolchain === 'python') return python(source, out);
  if (toolchain === 'inspector') return inspector(source, out);
  if (toolchain === 'claude-code') return claudeCode(source, out);
  if (toolchain === 'go') {
    await need('go', 'version');
    await run('go', ['build', '-C', source, '-o', out, '.']);
    return { file: out, args: [] };
  }
  await need('cargo', '--version');
  const target = join(CACHE, 'rust');
  const manifest = join(source, 'Cargo.toml');
  await run('cargo', ['build', '-j1', '--locked', '--manifest-path', manifest, '--target-dir', target]);
  return { file: join(target, 'debug', `${folder}-against-mcp-task-server`), args: [] };
}

async function python(source: string, venv: string): Promise<Command> {
  await need('python3', '-c', 'import sys, venv; assert sys.version_info >= (3, 10)');
  const command = { file: join(venv, 'bin/python'), args: [join(source, 'main.py')] };
  await installed(venv, join(source, 'requirements.txt'), async (requirements) => {
    await run('python3', ['-m', 'venv', venv]);
    await run(command.file, ['-m', 'pip', 'install', '--quiet', '-r', requirements]);
  });
  return command;
}

async function inspector(source: string, out: string): Promise<Command> {
  await npm(source, out);
  const env = { MCPDO: join(out, 'node_modules/.bin/mcpdo'), HOME: out, MCP_INSPECTOR_SECRET_STORE: 'memory' };
  return { file: process.execPath, args: [join(source, 'main.ts')], env };
}

async function claudeCode(source: string, out: string): Promise<Command> {
  const program = await python(source, `${out}-terminal`);
  // Its install script puts the program for this machine into place.
  await npm(source, out, []);
  return { ...program, env: { CLAUDE: join(out, 'node_modules/.bin/claude') } };
}

async function npm(source: string, out: string, options = ['--ignore-scripts']): Promise<void> {
  await installed(out, join(source, 'package.json'), async (wanted) => {
    mkdirSync(out, { recursive: true });
    copyFileSync(wanted, join(out, 'package.json'));
    await run('npm', ['install', '--prefix', out, '--no-audit', '--no-fund', ...options]);
  });
}

/** Installs once for each content of the file that pins the versions. */
async function installed(out: string, pinned: string, install: (pinned: string) => Promise<void>): Promise<void> {
  const mark = join(out, 'installed');
  const wanted = readFileSync(pinned, 'utf8');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === wanted) return;
  rmSync(out, { recursive: true, force: true });
  await install(pinned);
  writeFileSync(mark, wanted);
}

async function need(file: string, ...args: string[]): Promise<void> {
  await run(file, args).catch(() => {
    throw new NoToolchain(`no usable ${file}`);
  });
}

const run = (file: string, args: readonly string[]) => promisify(execFile)(file, args, { maxBuffer: 1e8 });
