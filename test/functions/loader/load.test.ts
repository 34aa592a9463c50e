import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cacheName, HEAD, opened, sealed } from '../../../functions/loader/cache-file.ts';
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

/** Changes the rows and corrects the checksum, so that the bytes reach V8. */
function inRows(cache: Buffer, change: (row: Buffer) => void): Buffer {
  for (let i = 0; i < cache.readUInt32LE(8); i++)
    change(cache.subarray(16 + i * (8 + HEAD), 16 + (i + 1) * (8 + HEAD)));
  cache.writeUInt32LE(crc32(cache.subarray(8)), 4);
  return cache;
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
  // The second word of V8's head is the hash of its version, the fifth the checksum of its snapshot.
  ['of another V8', 'v8', (cache) => inRows(cache, (row) => flip(row, 8 + 4))],
  ['of another build or architecture', 'v8', (cache) => inRows(cache, (row) => flip(row, 8 + 16))],
  ['of another version, or flags', 'version', (cache) => inRows(cache, (row) => flip(row, 0))],
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

test('a file gives back the cache of each set of flags, and refuses caches that differ in their code', () => {
  const source = Buffer.from('source');
  const rest = Buffer.from('the code, which is the same for all');
  const [one, two] = [Buffer.concat([Buffer.alloc(HEAD, 1), rest]), Buffer.concat([Buffer.alloc(HEAD, 2), rest])];
  const file = sealed(
    source,
    new Map([
      [7, one],
      [0xffff_fff0, two],
    ]),
  );
  expect(opened(Buffer.from(file), source, 7)).toEqual(one);
  expect(opened(Buffer.from(file), source, 0xffff_fff0)).toEqual(two);
  expect(opened(Buffer.from(file), source, 8)).toBe('version');
  expect(opened(Buffer.from(file), Buffer.from('sourcf'), 7)).toBe('source');
  expect(() =>
    sealed(
      source,
      new Map([
        [7, one],
        [8, Buffer.concat([two, rest])],
      ]),
    ),
  ).toThrow('differ in more');
});
