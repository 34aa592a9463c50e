import { spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheName, opened } from '../../functions/loader/cache-file.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const KEPT = join(ROOT, 'node_modules/.cache/mcp-task-server');
/** In ms. What is older belongs to code that has changed since. */
const KEPT_FOR = 86_400_000;
/** In ms. Making one takes half a second. */
const PATIENCE = 60_000;
/** The major version of Node that the functions run on. V8 of another one refuses the cache. */
const NODE = '24';

export interface CodeCache {
  /** Its name beside the bundle. */
  readonly name: string;
  readonly file: Uint8Array;
  /** Equal for caches that are as good as each other. Their bytes differ from run to run. */
  readonly identity: string;
}

/**
 * The cache of compiled code of a bundle, made on this machine: undefined when this is not Node 24, when
 * MCP_TASK_SERVER_CODE_CACHE is `off`, and when it cannot be made, which a warning says. It is kept on disk.
 */
export function madeHere(name: string, code: Uint8Array): CodeCache | undefined {
  if (process.versions.node.split('.')[0] !== NODE || isOff()) return undefined;
  const identity = identityOf(name, code);
  const kept = join(KEPT, `${identity}.cache`);
  try {
    let file = whole(kept, code);
    if (file === undefined) {
      make(name, code, kept);
      file = readFileSync(kept);
    }
    return { name: cacheName(), file, identity };
  } catch (error) {
    process.emitWarning(`${name} starts without a code cache: ${(error as Error).message}`);
    return undefined;
  }
}

/** The caches that were made on other machines, beside the prebuilt bundle `file` as `<name>.<system>.cache`. */
export function prebuiltCaches(file: string): readonly CodeCache[] {
  if (isOff()) return [];
  const stem = basename(file, 'js');
  const names = readdirSync(dirname(file)).filter((name) => name.startsWith(stem) && name.endsWith('.cache'));
  return names.map((name) => {
    const content = readFileSync(join(dirname(file), name));
    const identity = createHash('sha256').update(content).digest('hex');
    return { name: name.slice(stem.length), file: content, identity };
  });
}

/** A kept cache, if it is there and not damaged: a disk may have been full. */
function whole(kept: string, code: Uint8Array): Buffer | undefined {
  const file = read(kept);
  return file && typeof opened(Buffer.from(file), code) !== 'string' ? file : undefined;
}

function read(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

const isOff = () => process.env.MCP_TASK_SERVER_CODE_CACHE === 'off';

/** Of the bundle, of the Node that compiles it, and of how that is done. */
function identityOf(name: string, code: Uint8Array): string {
  const { version, platform, arch } = process;
  const hash = createHash('sha256').update(code).update([name, version, platform, arch].join('\n'));
  for (const file of globSync(['lib/code-cache/*.ts', 'functions/loader/*.ts'], { cwd: ROOT }).sort()) {
    hash.update(readFileSync(join(ROOT, file)));
  }
  return hash.digest('hex');
}

function make(name: string, code: Uint8Array, kept: string): void {
  mkdirSync(KEPT, { recursive: true });
  for (const file of globSync('*', { cwd: KEPT })) {
    const path = join(KEPT, file);
    // Another process may have removed it since.
    const found = statSync(path, { throwIfNoEntry: false });
    if (found !== undefined && Date.now() - found.mtimeMs > KEPT_FOR) rmSync(path, { force: true });
  }
  const [bundle, out] = [join(KEPT, `${randomUUID()}.js`), join(KEPT, randomUUID())];
  try {
    writeFileSync(bundle, code);
    const { error, status, stderr } = spawnSync(
      process.execPath,
      [fileURLToPath(new URL('make.ts', import.meta.url)), name, bundle, out],
      { env: plainEnvironment(), stdio: ['ignore', 'ignore', 'pipe'], timeout: PATIENCE, encoding: 'utf8' },
    );
    if (status !== 0) throw error ?? new Error(stderr);
    // Another process may make the same one.
    renameSync(out, kept);
  } finally {
    rmSync(bundle, { force: true });
    rmSync(out, { force: true });
  }
}

/** Without the options of this process, as V8 refuses a cache that was made under other flags, and without an account. */
const plainEnvironment = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(NODE|AWS)_/.test(name)));
