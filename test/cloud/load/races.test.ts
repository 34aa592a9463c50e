import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { ended, legacySession, modernRequest, poll } from '../../support/clients.ts';
import { useCloud } from '../../support/cloud.ts';

const cloud = useCloud();
const url = () => `${cloud().url}/mcp`;
const RUNS = 200;
const AT_ONCE = 20;

async function inBatches(run: (i: number) => Promise<void>): Promise<void> {
  for (let i = 0; i < RUNS; i += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, (_, j) => run(i + j)));
}

describe(`races, ${RUNS} runs each`, () => {
  test('finish against cancel: one wins, and it stays (C-10, C-27; row 14)', async () => {
    const client = await legacySession(url());
    const won = { finish: 0, cancel: 0 };
    await inBatches(async (i) => {
      // Cancel surely wins some, a finish some; the rest is spread over the time a run takes here.
      const sure = i % 4 === 0;
      const args = { ms: sure ? 2_000 : 0 };
      const created = await client.request('tools/call', { name: 'sleep', arguments: args, task: {} });
      const { taskId } = created.body.result.task;
      if (!sure) await sleep((i % AT_ONCE) * 20);
      const cancelled = await client.request('tasks/cancel', { taskId });
      const winner = cancelled.body.error === undefined ? 'cancel' : 'finish';
      won[winner]++;
      const expected = winner === 'cancel' ? 'cancelled' : 'completed';
      for (let look = 0; look < 3; look++) {
        expect((await client.request('tasks/get', { taskId })).body.result.status).toBe(expected);
        await sleep(20);
      }
    });
    expect(won.cancel + won.finish).toBe(RUNS);
    expect(Math.min(won.cancel, won.finish)).toBeGreaterThan(0);
  }, 60_000);

  test('two answers for one key: the task goes on once, with one of them (F-09; row 16)', async () => {
    await inBatches(async () => {
      const { body } = await modernRequest(url(), 'tools/call', { name: 'ask' });
      const { taskId } = body.result;
      await poll(url(), taskId, (task) => task.status === 'input_required');
      const answers = ['a', 'b'].map((who) => ({ 'r1.confirm': { action: 'accept', content: { ok: true, who } } }));
      const acks = await Promise.all(
        answers.map((inputResponses) => modernRequest(url(), 'tasks/update', { taskId, inputResponses })),
      );
      expect(acks.map((ack) => ack.body.result?.resultType)).toEqual(['complete', 'complete']);
      const done = await poll(url(), taskId, ended);
      expect(done.result.structuredContent).toMatchObject({
        round: 2,
        answer: { content: { who: expect.stringMatching(/^[ab]$/) } },
      });
      const names = cloud()
        .stepFunctions.executions()
        .map(({ name }) => name);
      expect(names.filter((name) => name.startsWith(taskId))).toHaveLength(2);
    });
  }, 120_000);
});

test('a late result never changes a cancelled task; its execution ends superseded or stopped', async () => {
  const { body } = await modernRequest(url(), 'tools/call', { name: 'sleep', arguments: { ms: 400 } });
  const { taskId } = body.result;
  await sleep(100);
  const ack = await modernRequest(url(), 'tasks/cancel', { taskId });
  expect(ack.body.result.resultType).toBe('complete');
  await sleep(800);
  const { body: got } = await modernRequest(url(), 'tasks/get', { taskId });
  expect(got.result).toMatchObject({ status: 'cancelled', statusMessage: 'Cancelled by the client' });
  expect(got.result).not.toHaveProperty('result');
});
