import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { runConsole } from '../../../bin/console/index.ts';
import type { Console } from '../../../bin/console/server.ts';
import { useCloud } from '../../support/cloud.ts';
import { resetCredentials, setCredentials } from '../tasks/verbs.ts';

const cloud = useCloud();
const running: Console[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
  resetCredentials();
});

/** `mcp-task-server console`, as on a deployed stack: with the credentials of the environment. */
async function console_(...args: string[]) {
  const [out, err]: [string[], string[]] = [[], []];
  setCredentials(cloud(), 'a');
  const ran = await runConsole(args, {
    out: (text) => void out.push(text),
    err: (text) => void err.push(text),
    folder: '/',
  });
  if (typeof ran !== 'number') running.push(ran);
  return { ran, out: out.join(''), err: err.join('') };
}

test('console serves the page of a stack, with commands that name the stack', async () => {
  const [stack = ''] = cloud().stacks;
  const { ran, out } = await console_('--stack', stack);
  const { url } = ran as Console;
  expect(out).toContain(url);
  expect(new URL(url).hostname).toBe('127.0.0.1');
  expect(await (await fetch(`${url}api/server`)).json()).toMatchObject({ name: `${stack}/Server`, local: false });
  expect(await (await fetch(url)).text()).toContain('main.js');
  const again = (await console_('--stack', stack)).ran as Console;
  expect(again.url.split('/')[3]).not.toBe(url.split('/')[3]);
});

test('console says what is wrong: no stack, an unknown one, a port that is taken', async () => {
  expect(await console_()).toMatchObject({ ran: 2, err: expect.stringContaining('Give --stack NAME') });
  expect(await console_('--stack', 'S', '--nope')).toMatchObject({ ran: 2, err: expect.stringContaining('--nope') });
  expect(await console_('--stack', 'Nope')).toMatchObject({ ran: 1, err: expect.stringContaining('Nope') });
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  const port = String((taken.address() as AddressInfo).port);
  expect(await console_('--stack', cloud().stacks[0] ?? '', '--port', port)).toMatchObject({
    ran: 1,
    err: `port ${port} is in use: choose another one with --port\n`,
  });
  taken.close();
});
