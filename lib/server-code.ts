import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, buildSync } from 'esbuild';
import { type CodeCache, madeHere, prebuiltCaches } from './code-cache/index.ts';

/** The root of the repository, or of the installed package: both hold this file in `lib`. */
const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** In the package, beside `lib`. */
export const PREBUILT = 'prebuilt';

/** The functions of the server itself, by their source. `loader` runs one of them from its code cache. */
export const SERVER_FUNCTIONS = {
  loader: 'functions/loader/index.ts',
  endpoint: 'functions/mcp/lambda.ts',
  reconciler: 'functions/reconciler/lambda.ts',
  authorizer: 'functions/authorizer/lambda.ts',
  rotation: 'functions/rotation/index.ts',
  taskEvents: 'functions/task-events/index.ts',
} as const;

export type ServerFunction = keyof typeof SERVER_FUNCTIONS;

/** Those with a code cache. The others are small, or run once a month. */
export const CACHED: readonly ServerFunction[] = ['endpoint', 'reconciler', 'taskEvents'];

/**
 * How code of the server is bundled (docs/architecture.md, "Cold start"): CommonJS and no dynamic import, since an ESM
 * `import 'node:http'` loads undici, some 30 ms of every cold start.
 */
const bundleOptions = {
  bundle: true,
  minify: true,
  platform: 'node',
  target: 'node24',
  format: 'cjs',
  mainFields: ['module', 'main'],
  supported: { 'dynamic-import': false },
  absWorkingDir: ROOT,
  logLevel: 'silent',
} as const satisfies BuildOptions;

const built = new Map<ServerFunction, Uint8Array>();
const caches = new Map<ServerFunction, readonly CodeCache[]>();

/** The code of a function. The package has it prebuilt; the repository builds it from source, once per process. */
export function serverCode(name: ServerFunction): Uint8Array {
  const prebuilt = join(ROOT, PREBUILT, `${name}.js`);
  const code = built.get(name) ?? (existsSync(prebuilt) ? readFileSync(prebuilt) : fromSource(name));
  built.set(name, code);
  return code;
}

/** The code caches of a function. The package has those for Lambda; the repository makes one for this machine. */
export function codeCaches(name: ServerFunction): readonly CodeCache[] {
  if (!CACHED.includes(name)) return [];
  const prebuilt = join(ROOT, PREBUILT, `${name}.js`);
  const known = caches.get(name);
  if (known !== undefined) return known;
  const made = existsSync(prebuilt) ? prebuiltCaches(prebuilt) : [madeHere(name, serverCode(name)) ?? []].flat();
  caches.set(name, made);
  return made;
}

function fromSource(name: ServerFunction): Uint8Array {
  return output({ entryPoints: [join(ROOT, SERVER_FUNCTIONS[name])] });
}

/** CommonJS code, bundled with what it requires of this package's dependencies. */
export function bundled(code: string): Uint8Array {
  return output({ stdin: { contents: code, resolveDir: ROOT } });
}

function output(options: BuildOptions): Uint8Array {
  const [file] = buildSync({ ...bundleOptions, ...options, write: false }).outputFiles;
  if (file === undefined) throw new Error('esbuild made no file');
  return file.contents;
}
