import { createServer } from 'node:http';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { devPage, runConsole } from '../../../bin/console/index.ts';
import type { Console } from '../../../bin/console/server.ts';
import { OperatorError } from '../../../functions/operator/errors.ts';
import { close, listen } from '../../../local/testing.ts';
import { KEY, operatorOn, task } from '../../functions/operator/operators.ts';
import { acting, send } from './console.ts';

// Test files share a process: what this one replaces may be loaded before, and is loaded again after.
vi.hoisted(() => vi.resetModules());
const connected = vi.hoisted(() => ({ connect: async (_target: object, _around: object): Promise<unknown> => ({}) }));
vi.mock('../../../bin/tasks/connect.ts', () => ({
  connect: (target: object, around: object) => connected.connect(target, around),
}));
afterAll(() => {
  vi.doUnmock('../../../bin/tasks/connect.ts');
  vi.resetModules();
});

/** `mcp-task-server console`, and what it has printed. */
async function run(...args: string[]) {
  const [out, err]: [string[], string[]] = [[], []];
  const terminal = {
    out: (text: string) => void out.push(text),
    err: (text: string) => void err.push(text),
    folder: '/',
  };
  const ran = await runConsole(args, terminal);
  if (typeof ran !== 'number') onTestFinished(() => ran.stop());
  return { ran, out: out.join(''), err: err.join(''), terminal, printed: err };
}
const targets: object[] = [];
connected.connect = async (target) => {
  targets.push(target);
  return operatorOn([task()]).context;
};

test('console prints the page of a stack, whose commands name that stack', async () => {
  const { ran, out } = await run('--stack', 'Shop', '--region', 'eu-west-1');
  const { url } = ran as Console;
  expect(out).toContain(`The tasks of Shop/Server (eu-west-1):\n\n  ${url}\n`);
  expect(targets).toEqual([{ stack: 'Shop', region: 'eu-west-1' }]);
  const asked = await fetch(`${url}api/task?id=${KEY.taskId}&owner=${encodeURIComponent(KEY.owner)}`);
  const { explanation } = (await asked.json()) as { explanation: { next: string[] } };
  expect(explanation.next[0]).toMatch(/ --stack Shop --region eu-west-1$/);
  expect(await (await fetch(`${url}api/server`)).json()).toMatchObject({ local: false });
});

test('an act on the page is audited in the terminal', async () => {
  connected.connect = async (_target, around) => ({ ...operatorOn([task()]).context, ...around });
  const { ran, printed } = await run('--stack', 'Shop');
  const { port, pathname } = new URL((ran as Console).url);
  const here = { url: '', token: pathname.split('/')[1] ?? '', port: Number(port), acts: [] };
  const body = { id: KEY.taskId, owner: KEY.owner, reason: 'INC-7' };
  await send(here.port, `/${here.token}/api/cancel`, { method: 'POST', headers: acting(here), body });
  expect(JSON.parse(printed.join(''))).toMatchObject({ event: 'audit', action: 'operator_cancel', reason: 'INC-7' });
});

test('console says how it is used, and which option is wrong', async () => {
  const help = await run('--help');
  expect([help.ran, help.out.startsWith('usage: mcp-task-server console --stack NAME')]).toEqual([0, true]);
  for (const [args, message] of [
    [[], 'Which stack? Give --stack NAME\nusage:'],
    [['--stack', 'S', '--nope'], "Unknown option '--nope'"],
    [['--stack', 'S', '--port', '123456'], '123456 is not a port\nusage:'],
    [['--stack', 'S', '--port', '80x'], '80x is not a port'],
    [['--stack', 'S', '--port', 'x80'], 'x80 is not a port'],
  ] as const) {
    const { ran, err, out } = await run(...args);
    expect([ran, out, err.startsWith(message)]).toEqual([2, '', true]);
  }
});

test('console listens on the port that is asked for, and says if that is in use', async () => {
  connected.connect = async () => operatorOn().context;
  const taken = createServer();
  const port = new URL(await listen(taken, 0)).port;
  const inUse = `port ${port} is in use: choose another one with --port\n`;
  expect(await run('--stack', 'Shop', '--port', port)).toMatchObject({ ran: 1, out: '', err: inUse });
  await close(taken);
  const { ran } = await run('--stack', 'Shop', '--port', port);
  expect(new URL((ran as Console).url).port).toBe(port);
});

test('console without a connection serves nothing, and says why', async () => {
  connected.connect = () => Promise.reject(new OperatorError('no server\nin it'));
  expect(await run('--stack', 'Shop')).toMatchObject({ ran: 1, out: '', err: 'no server in it\n' });
});

test('the page of dev shows the server of its own process', async () => {
  const asked: object[] = [];
  connected.connect = async (target) => {
    asked.push(target);
    return operatorOn().context;
  };
  const { url, stop } = await devPage({ out: () => {}, err: () => {}, folder: '/' });
  expect(await (await fetch(`${url}api/server`)).json()).toMatchObject({ local: true });
  expect(asked).toEqual([{ pid: process.pid }]);
  await stop();
});
