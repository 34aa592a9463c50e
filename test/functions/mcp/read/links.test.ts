import { expect, test } from 'vitest';
import { serveFile } from '../../../../functions/mcp/files/serve.ts';
import { signer } from '../../../../functions/mcp/identity/signing.ts';
import { freshLinks, withPreviewLink } from '../../../../functions/mcp/read/links.ts';
import { fileKey } from '../../../../functions/tasks/files/file.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { fakeServer } from '../support/fake-server.ts';

const MINUTE = 60_000;
const T0 = Date.UTC(2036, 0, 15, 12, 3);
const ID = 'A'.repeat(22);
const HELD = `mcp-task-file:${ID}.${'B'.repeat(42)}A/film.mp4`;

function setup(over: Partial<TaskRecord> = {}) {
  let now = T0;
  const { server } = fakeServer({ now: () => now });
  const record = { owner: 'owner#a', taskId: 'secret-task', createdAt: T0, ttl: 600 * MINUTE, ...over } as TaskRecord;
  const fresh = async (text = HELD) => (await freshLinks(record, text, server))(text);
  const passes = (ms: number) => {
    now += ms;
  };
  const get = async (url: string) => {
    const [token = '', name = ''] = url.split('/').slice(-2);
    return serveFile({ method: 'GET', token, name }, server);
  };
  return { server, record, fresh, get, passes };
}

test('a link leads to S3 for an hour after it was read, and then to nothing', async () => {
  const { record, fresh, get, passes } = setup();
  const url = await fresh();
  expect(url).toMatch(/^https:\/\/server\.example\/files\/[\w-]{8}\.[\w-]+\/film\.mp4$/);
  passes(60 * MINUTE - 1);
  const { status, headers } = await get(url);
  expect([status, headers.location]).toEqual([302, `https://s3.example/${fileKey(record, ID)}`]);
  passes(10 * MINUTE + 1);
  const late = await get(url);
  expect([late.status, late.headers.location]).toEqual([404, undefined]);
});

test('a link ends with its task', async () => {
  const { fresh, get, passes } = setup({ ttl: 5 * MINUTE });
  const url = await fresh();
  passes(5 * MINUTE - 1);
  expect((await get(url)).status).toBe(302);
  passes(1);
  expect((await get(url)).status).toBe(404);
});

test('all links of a text get the same URL for some minutes, and no URL tells the task', async () => {
  const { fresh, passes } = setup();
  const first = await fresh(`{"a":"${HELD}","b":"${HELD}"}`);
  expect(first).not.toContain('mcp-task-file');
  expect(new Set(first.match(/https:[^"]+/g)).size).toBe(1);
  const decoded = first.split(/[./]/).map((part) => Buffer.from(part, 'base64url').toString('latin1'));
  expect([first, ...decoded].join()).not.toContain('secret');
  passes(5 * MINUTE);
  expect(await fresh(`{"a":"${HELD}","b":"${HELD}"}`)).toBe(first);
  passes(5 * MINUTE);
  expect(await fresh(`{"a":"${HELD}","b":"${HELD}"}`)).not.toBe(first);
});

test('a preview in the message of a task gets its URL, too', async () => {
  const { server, record } = setup();
  const { statusMessage } = await withPreviewLink({ ...record, statusMessage: `Works\nPreview: ${HELD}` }, server);
  expect(statusMessage).toMatch(/^Works\nPreview: https:/);
});

test('100,000 changed, foreign and late links lead to nothing, and read nothing', async () => {
  const { server, record, fresh, get, passes } = setup();
  let reads = 0;
  const counted = async () => `https://s3.example/${++reads}`;
  const asked = (token: string, name: string) =>
    serveFile({ method: 'GET', token, name }, { ...server, files: { ...server.files, presign: counted } });
  const url = await fresh();
  const [token = '', name = ''] = url.split('/').slice(-2);
  const other = { ...server, signer: signer(async () => 'another key') };
  const [foreign = '', last = ''] = (await freshLinks(record, HELD, other))(HELD).split('/').slice(-2);
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const statuses = new Set<number>();
  for (let n = 0; n < 98_000; n++) {
    const at = n % token.length;
    const letter = letters[(letters.indexOf(token[at] ?? '') + 1 + (n % 63)) % 64];
    const changed = token[at] === '.' ? token.slice(0, at) : token.slice(0, at) + letter + token.slice(at + 1);
    statuses.add((await asked(changed, name)).status);
  }
  for (const [wrong = '', end = ''] of [
    [token, 'film.mp3'],
    [`${token}A`, name],
    [`${token}=`, name],
    ['', name],
    [`x.${'A'.repeat(50)}`, name],
  ]) {
    statuses.add((await asked(wrong, end)).status);
  }
  for (let n = 0; n < 1_000; n++) statuses.add((await asked(foreign, last)).status);
  expect((await get(url)).status).toBe(302);
  passes(71 * MINUTE);
  for (let n = 0; n < 1_000; n++) statuses.add((await asked(token, name)).status);
  expect([[...statuses], reads]).toEqual([[404], 0]);
});

test('only the first 1,000 links of a text get URLs: a tool may repeat one', async () => {
  const { fresh } = setup();
  const shown = await fresh(`${HELD} `.repeat(100_000));
  expect(shown.match(/https:/g)).toHaveLength(1_000);
  expect(shown.length - `${HELD} `.length * 100_000).toBeLessThan(300_000);
});

test('an outage of the key is no 404', async () => {
  const { server } = setup();
  const broken = { ...server, signer: signer(() => Promise.reject(new Error('no answer'))) };
  const { status, headers } = await serveFile(
    { method: 'GET', token: `${'A'.repeat(8)}.${'A'.repeat(50)}`, name: 'a' },
    broken,
  );
  expect([status, headers['retry-after']]).toEqual([503, '5']);
});
