import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, buildSync } from 'esbuild';

/** The root of the repository, or of the installed package: both hold this file in `lib`. */
const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** In the package, beside `lib`. */
export const PREBUILT = 'prebuilt';

/** The functions of the server itself, by their source. */
export const SERVER_FUNCTIONS = {
  endpoint: 'functions/mcp/lambda.ts',
  reconciler: 'functions/reconciler/lambda.ts',
  authorizer: 'functions/authorizer/lambda.ts',
  rotation: 'functions/rotation/index.ts',
  taskEvents: 'functions/task-events/index.ts',
} as const;

export type ServerFunction = keyof typeof SERVER_FUNCTIONS;

/**
 * Lambda starts Node with --expose-gc. V8 then refuses the code caches of Node's own modules, so each function takes the flag
 * back before it loads any. `gc` is there already, and the flag does nothing else.
 */
const FIRST_LINE = `"use strict";globalThis.gc&&require("node:v8").setFlagsFromString("--no-expose-gc");`;

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

/** The code of a function. The package has it prebuilt; the repository builds it from source, once per process. */
export function serverCode(name: ServerFunction): Uint8Array {
  const prebuilt = join(ROOT, PREBUILT, `${name}.js`);
  const code = built.get(name) ?? (existsSync(prebuilt) ? readFileSync(prebuilt) : fromSource(name));
  built.set(name, code);
  return code;
}

function fromSource(name: ServerFunction): Uint8Array {
  return output({ entryPoints: [join(ROOT, SERVER_FUNCTIONS[name])], banner: { js: FIRST_LINE } });
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
