import { expect, test } from 'vitest';
import { ended, modernRequest, poll } from '../../support/clients.ts';
import { useAssembly, useCloud } from '../../support/cloud.ts';
import { verbsOn } from './verbs.ts';

const cloud = useCloud('assembly', { assembly: useAssembly('test/support/apps/page-app.ts') });
const url = () => `${cloud().url}/mcp`;
const tasks = verbsOn(cloud);

async function ordered(args: object): Promise<string> {
  const { body } = await modernRequest(url(), 'tools/call', { name: 'ship_order', arguments: args });
  return body.result.taskId;
}

test('explain names the state of a machine, and its failed tries', async () => {
  const taskId = await ordered({ fails: 2, hold: 3_600 });
  const explained = async () => (await tasks('explain', taskId, '--json')).json();
  await expect.poll(explained).toMatchObject({ cause: 'works, after failures in its state machine' });
  await expect.poll(async () => (await explained()).because.at(-1)).toContain(`'Print label'`);
  const { because, row } = await explained();
  expect(because.slice(1)).toEqual([
    `Tries failed in states of its state machine: 'Charge card' twice (CardRefused).`,
    'Its state machine has gone on, by its own retriers or catchers.',
    expect.stringMatching(/^Its state machine is in the state 'Ship', .*'Print label'/),
  ]);
  expect(row).toBe('9');
  const { out } = await tasks('show', taskId);
  expect(out).toMatch(/What its state machine did\n +Reserve stock +round 1 +1 x +\d+ s\n/);
  expect(out).toMatch(/Charge card +round 1 +1 x .*2 failed \(CardRefused\)/);
  expect(out).toMatch(/Print label .*is there now/);
  await tasks('cancel', taskId, '--reason', 'test');
});

test('explain says in which state a state machine has failed', async () => {
  const taskId = await ordered({ fails: 9, hold: 1 });
  await poll(url(), taskId, ended);
  expect((await tasks('explain', taskId, '--json')).json().because).toContain(
    `Tries failed in states of its state machine: 'Charge card' 4 times (CardRefused).`,
  );
});
