import { expect, test } from 'vitest';
import { useCrashCloud } from '../../proofs/faults/crash-table/cloud.ts';
import { ended, poll } from '../../support/clients.ts';
import { useAssembly } from '../../support/cloud.ts';

const { cloud, url, start, stored } = useCrashCloud({ assembly: useAssembly('test/cloud/waits/link-events-app.ts') });
const DAY = 86_400_000;
const LINK = { kind: 'link', in: 3 * DAY, properties: { ok: { type: 'boolean' } }, required: ['ok'] };

const published = (taskId: string) =>
  cloud()
    .events.accepted()
    .filter(({ event }) => event['detail-type'] === 'Task Waits')
    .map(({ bus, event }) => ({ bus, ...(event.detail as Record<string, string>) }))
    .filter((detail) => 'taskId' in detail && detail.taskId === taskId);

test('who gets a Task Waits event can answer by its link, and each link is published once', async () => {
  const until = Date.now() + 2 * DAY;
  const rounds = [
    { approval: { ...LINK, in: undefined, until }, other: LINK, paid: { kind: 'webhook', in: DAY } },
    { approval: { ...LINK, in: undefined, until } },
  ];
  const taskId = await start('waits', { rounds });
  await expect.poll(() => published(taskId).length, { timeout: 10_000 }).toBe(2);
  const events = published(taskId) as { bus: string; wait: string; url: string; until: string }[];
  expect(events.map(({ bus, wait }) => [bus, wait]).sort()).toEqual([
    ['links', 'approval'],
    ['links', 'other'],
  ]);
  const of = (name: string) => events.find(({ wait }) => wait === name);
  expect(of('approval')?.until).toBe(new Date(until).toISOString());
  const answer = async (name: string) => {
    const headers = { 'content-type': 'application/json' };
    const body = '{"action":"accept","content":{"ok":true}}';
    return (await fetch(of(name)?.url ?? '', { method: 'POST', headers, body })).status;
  };
  expect(await answer('other')).toBe(200);
  await expect.poll(async () => (await stored(taskId)).round, { timeout: 10_000 }).toBe(2);
  await expect.poll(async () => (await stored(taskId)).status).toBe('waiting');
  expect(await answer('approval')).toBe(200);
  expect(await poll(url(), taskId, ended)).toMatchObject({ status: 'completed' });
  await cloud().streams.drained();
  expect(published(taskId)).toHaveLength(2);
  // The second round finds what the first one has noted.
  const notes = cloud()
    .calls.since(0)
    .filter(
      ({ input }) => JSON.stringify(input).includes(`#${taskId}`) && JSON.stringify(input).includes('published#'),
    );
  expect(notes.map(({ operation }) => operation).sort()).toEqual(['GetItem', 'UpdateItem', 'UpdateItem']);
});
