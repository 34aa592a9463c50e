import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cacheName, opened, sealed } from '../../../functions/loader/cache-file.ts';
import { compiled } from '../../../functions/loader/load.ts';
import { bundleEndpoint } from '../../../lib/bundles.ts';
import { warmUps } from '../../../lib/code-cache/warm-up.ts';

const root = mkdtempSync(join(tmpdir(), 'mcp-loader-'));
const deployed = join(root, 'deployed');
const manifest = JSON.parse(warmUps.endpoint?.parts['manifest.json'] ?? '');
/** The answers of the bundle, required as it is. */
let plain: string;

beforeAll(() => {
  bundleEndpoint(manifest, (folder) => cpSync(folder, deployed, { recursive: true }));
  plain = run(deployed, [], 'bundle.js').answers;
});
afterAll(() => rmSync(root, { recursive: true }));

/** Starts the endpoint of a folder in a process of its own: what V8 has compiled there before would hide a refusal. */
function run(folder: string, flags: readonly string[] = [], file = 'index.js') {
  const args = [...flags, join(import.meta.dirname, 'probe.ts'), join(folder, file)];
  const lines = execFileSync(process.execPath, args, { encoding: 'utf8' }).trim().split('\n');
  const parsed = lines.map((line) => JSON.parse(line));
  return {
    answers: JSON.stringify(parsed.find(({ answers }) => answers !== undefined)),
    metrics: parsed.filter(({ CodeCacheRefused }) => CodeCacheRefused !== undefined),
  };
}

type Change = (cache: Buffer, folder: string) => Buffer | undefined;

/** The deployed folder with a change to its cache. */
function changed(change: Change): string {
  const folder = mkdtempSync(join(root, 'changed-'));
  cpSync(deployed, folder, { recursive: true });
  const file = join(folder, cacheName());
  const cache = change(readFileSync(file), folder);
  rmSync(file);
  if (cache !== undefined) writeFileSync(file, cache);
  return folder;
}

/** Changes V8's own head, and corrects the checksum, so that the bytes reach V8. */
function inHead(file: Buffer, at: number): Buffer {
  flip(file, 8 + at);
  file.writeUInt32LE(crc32(file.subarray(8)), 4);
  return file;
}
function flip(bytes: Buffer, at: number): Buffer {
  bytes.writeUInt8(bytes.readUInt8(at) ^ 0xff, at);
  return bytes;
}

test.each([[[]], [['--expose-gc']], [['--max-old-space-size=460', '--max-semi-space-size=25']]])(
  'V8 takes the cache, started with %j as Lambda starts it',
  (flags) => {
    expect(run(deployed, flags)).toEqual({ answers: plain, metrics: [] });
  },
);

test('without a cache for this system the bundle runs, and that is no refusal', () => {
  expect(run(changed(() => undefined))).toEqual({ answers: plain, metrics: [] });
});

const refusals: readonly (readonly [string, string, Change])[] = [
  ['of another version of V8', 'v8', (cache) => inHead(cache, 4)],
  ['of other flags', 'v8', (cache) => inHead(cache, 12)],
  ['of another build or architecture', 'v8', (cache) => inHead(cache, 16)],
  ['with a flipped byte in its first part', 'damaged', (cache) => flip(cache, 40)],
  ['with a flipped byte in its code', 'damaged', (cache) => flip(cache, 100_000)],
  ['that is cut off', 'damaged', (cache) => cache.subarray(0, 100_000)],
  ['that is empty', 'damaged', () => Buffer.alloc(0)],
];

test.each(refusals)('a cache %s changes no answer, and one line says %s', (_title, reason, change) => {
  const { answers, metrics } = run(changed(change));
  expect(answers).toBe(plain);
  expect(metrics).toMatchObject([{ FunctionName: 'f', reason, CodeCacheRefused: 1 }]);
  const [{ _aws }] = metrics;
  expect(_aws.CloudWatchMetrics).toEqual([
    {
      Namespace: 'McpTaskServer',
      Dimensions: [['FunctionName']],
      Metrics: [{ Name: 'CodeCacheRefused', Unit: 'Count' }],
    },
  ]);
});

test('a cache of other source with the same length is refused: V8 compares only the length', () => {
  const folder = changed((cache, at) => {
    const file = join(at, 'bundle.js');
    const source = readFileSync(file, 'utf8');
    expect(source).toContain('Method not found');
    writeFileSync(file, source.replaceAll('Method not found', 'Method not FOUND'));
    return cache;
  });
  const { answers, metrics } = run(folder);
  expect(answers).toBe(plain.replaceAll('Method not found', 'Method not FOUND'));
  expect(answers).not.toBe(plain);
  expect(metrics).toMatchObject([{ reason: 'source' }]);
});

test('a cache that cannot be read is refused', () => {
  const folder = changed(() => undefined);
  mkdirSync(join(folder, cacheName()));
  const { answers, metrics } = run(folder);
  expect(answers).toBe(plain);
  expect(metrics).toMatchObject([{ reason: 'unreadable' }]);
});

test('an error names line and column of the file, as it does when the file is required', () => {
  const file = join(root, 'thrown.cjs');
  const thrown = "throw new Error('here')";
  writeFileSync(file, `exports.first = () => { ${thrown} };\n\n  exports.third = () => { ${thrown} };`);
  const exports: Record<string, () => void> = {};
  compiled(file, readFileSync(file)).runInThisContext().call(exports, exports);
  const required: typeof exports = createRequire(file)(file);
  for (const name of ['first', 'third']) {
    const [here, there] = [exports, required].map((one) => placeOf(() => one[name]?.()));
    expect(here).toMatch(/thrown\.cjs:[13]:\d+/);
    expect(here).toBe(there);
  }
});

function placeOf(call: () => void): string | undefined {
  try {
    call();
  } catch (error) {
    return /[^/]+\.cjs:\d+:\d+/.exec(String((error as Error).stack))?.[0];
  }
  return undefined;
}

test('a file gives back its cache for the source it was made of, and for no other', () => {
  const source = Buffer.from('source');
  const cache = Buffer.from('what V8 made of it');
  const file = sealed(source, cache);
  expect(opened(file, source)).toEqual(cache);
  expect(opened(file, Buffer.from('sourcf'))).toBe('source');
  expect(opened(file.subarray(0, -1), source)).toBe('damaged');
  expect(opened(Buffer.alloc(3), source)).toBe('damaged');
});
