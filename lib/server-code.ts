import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, buildSync, version } from 'esbuild';

/** The root of the repository, or of the installed package: both hold this file in `lib`. */
const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** The folder with built functions, in the package beside `lib`. */
export const PREBUILT = 'prebuilt';

/** The source files of the server's own functions. */
export const SERVER_FUNCTIONS = {
  endpoint: 'functions/mcp/lambda.ts',
  endpointWithEvents: 'functions/mcp/lambda-events.ts',
  reconciler: 'functions/reconciler/lambda.ts',
  signals: 'functions/signals/lambda.ts',
  authorizer: 'functions/authorizer/lambda.ts',
  authorizerOnLoopback: 'functions/authorizer/lambda-loopback.ts',
  rotation: 'functions/rotation/index.ts',
  taskEvents: 'functions/task-events/index.ts',
  eventDelivery: 'functions/event-delivery/index.ts',
} as const;

export type ServerFunction = keyof typeof SERVER_FUNCTIONS;

/**
 * Removes --expose-gc, with which Lambda starts Node, before any module is loaded: with it, V8 refuses the code caches of
 * Node's own modules. `gc` exists by then, and the flag does nothing else.
 */
const FIRST_LINE = `"use strict";globalThis.gc&&require("node:v8").setFlagsFromString("--no-expose-gc");`;

/**
 * Bundles the server's code (docs/architecture/requests.md, "Cold start") as CommonJS without dynamic imports: an ESM
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

/** The sources of AWS clients, and what else is a separate file that a function loads when it first needs it. */
const PARTS = {
  challenge: 'functions/events/post/challenge.ts',
  dynamodb: 'functions/tasks/aws/dynamodb.ts',
  eventbridge: 'functions/tasks/aws/eventbridge.ts',
  lambda: 'functions/tasks/aws/lambda.ts',
  s3: 'functions/tasks/aws/s3.ts',
  's3-files': 'functions/tasks/aws/s3-files.ts',
  'secrets-manager': 'functions/tasks/aws/secrets-manager.ts',
  sqs: 'functions/tasks/aws/sqs.ts',
} as const;

type Part = keyof typeof PARTS;

/** The folder of these files, beside the code. esbuild leaves out each import of this name: no file of a user may have it. */
const FOLDER = 'mcp-task-server-aws';

/** Options of esbuild that leave the parts in files beside the code. */
export const partsBeside = { alias: { '#mcp-task-server': `./${FOLDER}` }, external: [`./${FOLDER}/*`] };

/** The parts that `defineTool` loads. */
const FOR_TOOLS = ['dynamodb', 's3', 's3-files'] as const;
let inPlace: typeof partsBeside | undefined;

/**
 * Options of esbuild that name the parts by their place on this machine: for `dev`, which builds a tool at each save. The
 * repository keeps the parts in node_modules.
 */
export function partsInPlace(): typeof partsBeside {
  if (inPlace !== undefined) return inPlace;
  const prebuilt = join(ROOT, PREBUILT, FOLDER);
  const folder = existsSync(prebuilt) ? prebuilt : join(ROOT, 'node_modules/.cache/mcp-task-server');
  if (folder !== prebuilt) for (const name of FOR_TOOLS) replaceFile(join(folder, `${name}.js`), partCode(name));
  inPlace = { alias: { '#mcp-task-server': folder }, external: [`${folder}/*`] };
  return inPlace;
}

/** Replaces a file in one step: a tool may load it at the same time. */
function replaceFile(file: string, content: Uint8Array): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.${process.pid}`, content);
  renameSync(`${file}.${process.pid}`, file);
}

/** Leaves out the credential chain, 130 KB that would load first: clients get their credentials from the environment. */
const withoutChain = {
  alias: { '@aws-sdk/credential-provider-node': join(ROOT, 'lib/no-credential-chain.ts') },
} as const satisfies BuildOptions;

const built = new Map<string, Uint8Array>();

/** The files of a function, by their paths. The package has them prebuilt; the repository builds them from source, once. */
export function serverCode(name: ServerFunction): Record<string, Uint8Array> {
  const code = made(`${name}.js`, () =>
    output({
      entryPoints: [join(ROOT, SERVER_FUNCTIONS[name])],
      banner: { js: FIRST_LINE },
      external: partsBeside.external,
      alias: { ...partsBeside.alias, ...withoutChain.alias },
    }),
  );
  return { 'index.js': code, ...partsOf(code) };
}

/** The parts that code requires, by their paths. */
export function partsOf(code: Uint8Array): Record<string, Uint8Array> {
  const required = Buffer.from(code)
    .toString()
    .matchAll(/require\("\.\/mcp-task-server-aws\/([\w-]+)"\)/g);
  return partsCode(new Set([...required].map(([, name]) => name as Part)));
}

/** The code of parts, by their paths. @default all parts */
export const partsCode = (names: Iterable<Part> = Object.keys(PARTS) as Part[]): Record<string, Uint8Array> =>
  Object.fromEntries([...names].map((name) => [`${FOLDER}/${name}.js`, partCode(name)]));

const partCode = (name: Part): Uint8Array =>
  made(`${FOLDER}/${name}.js`, () => output({ entryPoints: [join(ROOT, PARTS[name])], ...withoutChain }));

function made(file: string, build: () => Uint8Array): Uint8Array {
  const prebuilt = join(ROOT, PREBUILT, file);
  const code = built.get(file) ?? (existsSync(prebuilt) ? readFileSync(prebuilt) : build());
  built.set(file, code);
  return code;
}

/** Bundles CommonJS code with the parts of this package's dependencies that it requires. */
export function bundled(code: string): Uint8Array {
  return output({ stdin: { contents: code, resolveDir: ROOT } });
}

function output(options: BuildOptions): Uint8Array {
  const all = { ...bundleOptions, ...options, write: false, metafile: true } as const;
  const name = createHash('sha256')
    .update(JSON.stringify([version, all]))
    .digest('hex')
    .slice(0, 16);
  const place = join(KEPT, name);
  const kept = all.stdin === undefined ? keptAt(place) : undefined;
  if (kept !== undefined) return kept;
  const { outputFiles, metafile } = buildSync(all);
  const [file] = outputFiles;
  if (file === undefined) throw new Error('esbuild made no file');
  if (all.stdin === undefined) {
    const inputs = Object.keys(metafile.inputs).map((input) => [input, stampOf(input)] as const);
    replaceFile(place, Buffer.concat([Buffer.from(`${JSON.stringify(inputs)}\n`), file.contents]));
  }
  return file.contents;
}

/** Keeps bundles of the repository, each with its inputs: a bundle with AWS clients takes a second to make. */
const KEPT = join(ROOT, 'node_modules/.cache/mcp-task-server/bundles');

/** The kept bundle, if none of its input files has changed. */
function keptAt(place: string): Uint8Array | undefined {
  if (!existsSync(place)) return undefined;
  const kept = readFileSync(place);
  const end = kept.indexOf('\n');
  const inputs = JSON.parse(kept.subarray(0, end).toString()) as readonly (readonly [input: string, stamp: string])[];
  return inputs.every(([input, stamp]) => stampOf(input) === stamp) ? kept.subarray(end + 1) : undefined;
}

/** @param input the path from the root, as esbuild names it */
function stampOf(input: string): string {
  const { mtimeMs, size } = statSync(join(ROOT, input), { throwIfNoEntry: false }) ?? {};
  return `${mtimeMs} ${size}`;
}
