import { afterAll, expect, test } from 'vitest';
import { runConsole } from '../../../bin/console/index.ts';
import type { Console } from '../../../bin/console/server.ts';
import { useCloud } from '../../support/cloud.ts';
import { resetCredentials, setCredentials } from '../tasks/verbs.ts';

const cloud = useCloud();
afterAll(resetCredentials);

test('console serves the page of a stack, with commands that name the stack', async () => {
  // As on a deployed stack: with the credentials of the environment.
  setCredentials(cloud(), 'a');
  const [stack = ''] = cloud().stacks;
  const out: string[] = [];
  const terminal = { out: (text: string) => void out.push(text), err: () => {}, folder: '/' };
  const { url, stop } = (await runConsole(['--stack', stack], terminal)) as Console;
  expect(out.join('')).toContain(url);
  expect(await (await fetch(`${url}api/server`)).json()).toMatchObject({ name: `${stack}/Server`, local: false });
  expect(await (await fetch(url)).text()).toContain('main.js');
  await stop();
});
