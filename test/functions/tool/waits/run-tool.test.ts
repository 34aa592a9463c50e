import { describe, expect, test } from 'vitest';
import { elicitForm } from '../../../../functions/tool/index.ts';
import { runTool } from '../../../../functions/tool/testing.ts';
import { toolOf } from '../journal/support.ts';
import { DAY } from './support.ts';

const ask = elicitForm('Buy it for 900?', { ok: { type: 'boolean' } });
const within = { days: 3 };

describe('a test of a tool', () => {
  const buys = toolOf(async (task) => {
    const approval = await task.link('approval', ask, { within });
    const { timedOut, action } = await approval.answer();
    const { body } = await (await task.webhook('paid', { within })).received();
    return { timedOut, action, body, days: Math.round((Date.now() - (await task.step('at', () => Date.now()))) / DAY) };
  });

  test('gives the signals, when the tool waits for them', async () => {
    const signals = { approval: { action: 'accept', content: { ok: true } }, paid: { body: { n: 1 } } } as const;
    const { result, rounds } = await runTool(buys, {}, { signals });
    expect([result, rounds]).toEqual([{ action: 'accept', body: { n: 1 }, days: 0 }, 3]);
  });

  test('says that none comes', async () => {
    const { result } = await runTool(buys, {}, { signals: { approval: 'timeout', paid: 'timeout' } });
    expect(result).toEqual({ timedOut: true, days: 0 });
  });

  test('refuses a body that does not fit the schema of its webhook, as the server does', async () => {
    const schema = { type: 'object', properties: { uri: { type: 'string' } }, required: ['uri'] } as const;
    const trains = toolOf(async (task) => {
      const { body } = await (await task.webhook('trained', { within: { hours: 1 }, schema })).received();
      return { uri: body?.uri };
    });
    const { result } = await runTool(trains, {}, { signals: { trained: { body: { uri: 's3://model' } } } });
    expect(result).toEqual({ uri: 's3://model' });
    for (const [body, problem] of [
      [{ uri: 5 }, 'the body at /uri must be string'],
      [{}, "the body at / must have required property 'uri'"],
    ] as const) {
      await expect(runTool(trains, {}, { signals: { trained: { body } } })).rejects.toThrow(problem);
    }
  });

  test.each([
    [{}, "waits for 'approval', and the test has no signal for it"],
    [{ approval: { action: 'accept', content: { ok: 'yes' } } }, "'approval' would be refused: content['ok'] must be"],
    [{ approval: { action: 'decline', content: { ok: false } } }, 'only an answer that accepts has content'],
    [{ approval: { body: 1 } }, "'approval' would be refused: a link gets an answer"],
    [{ approval: 'timeout', paid: { action: 'decline' } }, "'paid' would be refused: a webhook gets a 'body'"],
  ] as const)('refuses what the server would refuse: %j', async (signals, message) => {
    await expect(runTool(buys, {}, { signals })).rejects.toThrow(message);
  });

  test('refuses a question that the protocol does not have', async () => {
    const nested = elicitForm('?', { deep: { type: 'object' } as never });
    const tool = toolOf(async (task) => (await task.link('deep', nested as never, { within })).answer());
    await expect(runTool(tool, {}, { signals: { deep: 'timeout' } })).rejects.toThrow("asks 'deep' in a form");
  });
});
