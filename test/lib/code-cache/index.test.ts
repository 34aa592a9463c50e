import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { cacheName, opened } from '../../../functions/loader/cache-file.ts';
import { bundleTaskEvents } from '../../../lib/bundles.ts';
import { madeHere, prebuiltCaches } from '../../../lib/code-cache/index.ts';
import { serverCode } from '../../../lib/server-code.ts';

const folder = mkdtempSync(join(tmpdir(), 'mcp-caches-'));
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const code = serverCode('taskEvents');
const once = () => Buffer.from(`// ${process.pid} ${performance.now()}\n${Buffer.from(code)}`);

test('the asset hash of a function is the same for two caches of the same code', () => {
  const hashes = [1, 2].map(() => bundleTaskEvents((_folder, hash) => hash));
  expect(hashes[0]).toBe(hashes[1]);
  const [one, other] = [madeHere('taskEvents', code), madeHere('taskEvents', once())];
  expect(one?.identity).toBe(madeHere('taskEvents', code)?.identity);
  expect(one?.identity).not.toBe(other?.identity);
});

test('a cache is made once per bundle, and then read from disk', () => {
  const bundle = once();
  const first = madeHere('taskEvents', bundle);
  expect(first?.name).toBe(cacheName());
  expect(madeHere('taskEvents', bundle)).toEqual(first);
});

test.each([
  ['empty', 0],
  ['cut off', 1_000],
])('a kept cache that is %s, as after a full disk, is made again', (_title, length) => {
  const bundle = once();
  const first = madeHere('taskEvents', bundle);
  const kept = join('node_modules/.cache/mcp-task-server', `${first?.identity}.cache`);
  truncateSync(kept, length);
  const again = madeHere('taskEvents', bundle);
  expect(again?.identity).toBe(first?.identity);
  expect(opened(Buffer.from(again?.file ?? []), bundle)).toBeInstanceOf(Buffer);
});

test('MCP_TASK_SERVER_CODE_CACHE=off: there is no cache, made or prebuilt', () => {
  writeFileSync(join(folder, `endpoint.${cacheName('linux', 'arm64')}`), 'cache');
  writeFileSync(join(folder, `other.${cacheName('linux', 'arm64')}`), 'cache');
  const prebuilt = join(folder, 'endpoint.js');
  expect(prebuiltCaches(prebuilt)).toMatchObject([{ name: 'linux-arm64.cache' }]);
  vi.stubEnv('MCP_TASK_SERVER_CODE_CACHE', 'off');
  expect([prebuiltCaches(prebuilt), madeHere('taskEvents', code)]).toEqual([[], undefined]);
  rmSync(folder, { recursive: true });
});

test('another major version of Node makes no cache: the functions run on Node 24', () => {
  vi.spyOn(process, 'versions', 'get').mockReturnValue({ ...process.versions, node: '22.18.0' });
  expect(madeHere('taskEvents', code)).toBeUndefined();
});

test('a bundle that cannot run has no cache, and a warning says why', () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  expect(madeHere('taskEvents', Buffer.from(`throw new Error('broken ${process.pid}')`))).toBeUndefined();
  expect(warn.mock.calls).toEqual([[expect.stringMatching(/^taskEvents starts without a code cache: .*broken/s)]]);
});
