import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { findDevSession } from '../../../bin/tasks/dev-session.ts';
import { close, listen } from '../../../local/testing.ts';

const NONE = "No 'mcp-task-server dev' runs in this folder";
let cloud: Server;
let endpoint = '';
let asked = 0;
let signed = '';
let folder = '';

beforeAll(async () => {
  // The part of an embedded cloud that answers that it exists.
  cloud = createServer((request, response) => {
    asked += 1;
    signed = request.headers.authorization ?? '';
    request.resume().once('end', () => response.end('<GetCallerIdentityResponse/>'));
  });
  endpoint = await listen(cloud, 0);
});
afterAll(() => close(cloud));
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mcp-sessions-'));
  asked = 0;
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

const good = () => ({
  pid: process.pid,
  endpoint,
  region: 'us-east-1',
  stacks: ['Shop'],
  url: 'http://127.0.0.1:3000',
});

/** Writes the file of a session. Returns its folder. */
function plant(text: string, at = folder, name = `${process.pid}-1`): string {
  const session = join(at, 'cdk.out/mcp-task-server-dev', name);
  mkdirSync(session, { recursive: true, mode: 0o755 });
  writeFileSync(join(session, 'server.json'), text, { mode: 0o600 });
  return session;
}
const plantGood = (more: object = {}, at?: string, name?: string) =>
  plant(JSON.stringify({ ...good(), ...more }), at, name);

test('the dev of a folder is found from there and from below', async () => {
  plantGood();
  expect(await findDevSession(folder)).toEqual(good());
  mkdirSync(join(folder, 'a/b'), { recursive: true });
  expect(await findDevSession(join(folder, 'a/b'))).toEqual(good());
});

test.each(['package.json', 'cdk.json'])('a folder with a %s is the last one that is searched', async (file) => {
  plantGood();
  const project = join(folder, 'project');
  mkdirSync(project);
  writeFileSync(join(project, file), '{}');
  await expect(findDevSession(project)).rejects.toThrow(NONE);
  plantGood({}, project);
  expect(await findDevSession(project)).toEqual(good());
});

describe('a session that another user may have written is not used', () => {
  test.each<[string, () => void]>([
    ['a file of another user', () => vi.spyOn(process as { getuid(): number }, 'getuid').mockReturnValue(12_345)],
    ['a file that others may write', () => chmodSync(join(plantGood(), 'server.json'), 0o622)],
    ['a file that the group may write', () => chmodSync(join(plantGood(), 'server.json'), 0o620)],
    ['a folder that others may write', () => chmodSync(plantGood(), 0o757)],
    [
      'a link to a file of the own user',
      () => {
        const file = join(plantGood(), 'server.json');
        rmSync(file);
        writeFileSync(join(folder, 'other.json'), JSON.stringify(good()), { mode: 0o600 });
        symlinkSync(join(folder, 'other.json'), file);
      },
    ],
    ['an endpoint of another machine', () => plantGood({ endpoint: 'http://192.0.2.1:80' })],
    ['a name in place of the loopback address', () => plantGood({ endpoint: 'http://127.0.0.1.example:80' })],
    ['a user in front of a host', () => plantGood({ endpoint: 'http://127.0.0.1@192.0.2.1' })],
    ['a pid that is not a number', () => plantGood({ pid: String(process.pid) })],
    ['an endpoint that is not a text', () => plantGood({ endpoint: [endpoint] })],
    ['an endpoint that is not a URL', () => plantGood({ endpoint: '127.0.0.1' })],
    ['an endpoint with TLS', () => plantGood({ endpoint: endpoint.replace('http:', 'https:') })],
    ['a region that is not a text', () => plantGood({ region: 1 })],
    ['stacks that are not a list', () => plantGood({ stacks: 'Shop' })],
    ['what is not JSON', () => plant('{"pid":1}x')],
    ['JSON of another kind', () => plant('null')],
  ])('%s', async (_what, make) => {
    plantGood();
    make();
    await expect(findDevSession(folder)).rejects.toThrow(NONE);
    await expect(findDevSession(folder, process.pid)).rejects.toThrow(NONE);
    expect(asked).toBe(0);
  });

  test('counts where files have no owners and modes, as on Windows', async () => {
    chmodSync(join(plantGood(), 'server.json'), 0o622);
    const { getuid } = process;
    onTestFinished(() => void Object.assign(process, { getuid }));
    Object.assign(process, { getuid: undefined });
    expect(await findDevSession(folder)).toEqual(good());
  });

  test.each<[string, (sessions: string) => void]>([
    ['the folder of a dev that starts', (sessions) => mkdirSync(join(sessions, '1-1'))],
    ['a file', (sessions) => writeFileSync(join(sessions, '1-1'), '')],
    ['a folder in place of the file', (sessions) => mkdirSync(join(sessions, '1-1/server.json'), { recursive: true })],
  ])('%s among the sessions is passed over', async (_what, make) => {
    make(dirname(plantGood({}, folder, '2-1')));
    expect(await findDevSession(folder)).toEqual(good());
  });

  test('a session of another user hides no other session', async () => {
    plant('{"pid":1}x', folder, '1-1');
    plantGood({}, folder, '2-1');
    expect(await findDevSession(folder)).toEqual(good());
  });
});

describe('a dev that was killed does not count', () => {
  test('if its pid is free, or a process of another user has it', async () => {
    plantGood();
    const kill = vi.spyOn(process, 'kill');
    for (const code of ['ESRCH', 'EPERM']) {
      kill.mockImplementation(() => {
        throw Object.assign(new Error(code), { code });
      });
      await expect(findDevSession(folder)).rejects.toThrow(NONE);
    }
    expect(asked).toBe(0);
  });

  test('if its pid belongs to another process: its endpoint does not answer', async () => {
    const other = createServer();
    const gone = await listen(other, 0);
    await close(other);
    plantGood({ endpoint: gone }, folder, '1-1');
    await expect(findDevSession(folder)).rejects.toThrow(NONE);
    plantGood();
    expect(await findDevSession(folder)).toEqual(good());
  });
});

test('a session without a URL has the URL of its endpoint, and an operator asks there', async () => {
  plantGood({ url: undefined });
  expect(await findDevSession(folder)).toEqual({ ...good(), url: endpoint });
  expect(signed).toMatch(/Credential=operator\//);
});

test('two that run are listed by their URLs; the page of one names its process', async () => {
  plantGood();
  plantGood({ pid: process.ppid, url: 'http://127.0.0.1:4000' }, folder, `${process.ppid}-1`);
  await expect(findDevSession(folder)).rejects.toThrow(/2 times .* \(http:\/\/127.0.0.1:\d+, http:\/\/127.0.0.1:\d+\)/);
  asked = 0;
  expect(await findDevSession(folder, process.pid)).toEqual(good());
  expect(asked).toBe(0);
});
