import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startSession } from '../../local/dev/session.ts';
import { close, listen, readProject } from '../../local/testing.ts';
import { APP, project } from './developed.ts';

const BROKEN = APP.replace('new App()', 'new Ap()');
const { folder, write, printed, printer, options, until } = project(BROKEN);
const sessions = () => readdirSync(join(folder, 'cdk.out/mcp-task-server-dev'));

test('an app that does not start waits for the save that mends it', async () => {
  const starting = startSession(readProject(folder), options, printer);
  expect(await until(/✗/)).toContain('Ap is not defined');
  await until(/save a file to try again/);
  write('app.ts', APP.replace("entry: 'hello.ts'", "entry: 'no-such-tool.ts'"));
  await until(/✗ Could not resolve ".*no-such-tool\.ts"/);
  await until(/save a file to try again/);
  expect(printed).toEqual([]);
  write('app.ts', APP);
  const session = await starting;
  expect((await fetch(`${session.url}/mcp`, { method: 'POST' })).status).not.toBe(404);
  await session.stop();
  expect(sessions()).toEqual([]);
});

test('an end while it waits leaves no process or file', async () => {
  write('app.ts', BROKEN);
  const ending = new AbortController();
  const starting = startSession(readProject(folder), options, printer, ending.signal);
  await until(/save a file to try again/);
  ending.abort();
  await expect(starting).rejects.toThrow(/aborted/);
  expect(sessions()).toEqual([]);
});

test('with --strict it ends with the error, for CI', async () => {
  const strict = startSession(readProject(folder), { ...options, strict: true }, printer);
  await expect(strict).rejects.toThrow('Ap is not defined');
});

test('no save mends a port in use: it ends at once', async () => {
  const other = createServer();
  const port = Number(new URL(await listen(other, 0)).port);
  const refused = startSession(readProject(folder), { ...options, port }, printer);
  await expect(refused).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await close(other);
});
