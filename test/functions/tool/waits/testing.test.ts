import { describe, expect, test } from 'vitest';
import type { Wait } from '../../../../functions/tasks/tool-contract.ts';
import { endFirst, type GivenSignal, skippingClock } from '../../../../functions/tool/waits/testing.ts';

const clock = skippingClock();
const in1s = (kind: 'time' | 'link' | 'webhook', ms = 1_000): Wait => ({ kind, until: clock.now() + ms }) as Wait;
const question = {
  method: 'elicitation/create',
  params: { message: 'Sure?', requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } } },
};
const one = (name: string, wait: Wait, stored?: object) => ({
  ...{ name, wait },
  stored: stored === undefined ? undefined : JSON.stringify(stored),
});
const ends = (waits: ReturnType<typeof one>[], given?: Record<string, GivenSignal>) => endFirst(waits, clock, given);

describe('the end of a round in a test', () => {
  test('is at once where the tool waits for nothing, or only has more to do', async () => {
    const before = clock.now();
    expect(await ends([])).toEqual({});
    expect(await ends([one('more', { kind: 'more' })])).toEqual({});
    expect(clock.now() - before).toBeLessThan(1_000);
  });

  test('is when the first time is over; a signal that was not sent times out by itself', async () => {
    const before = clock.now();
    const waits = [one('sleep', in1s('time', 60_000)), one('hook', in1s('webhook', 120_000), {})];
    expect(await ends(waits, { hook: 'timeout' })).toEqual({});
    expect(clock.now() - before).toBeGreaterThanOrEqual(60_000);
    expect(await ends(waits.slice(1), { hook: 'timeout' })).toEqual({ hook: { timedOut: true } });
    expect(await ends([one('sleep', in1s('time'))])).toEqual({});
  });

  test('is at a signal that comes, before any time', async () => {
    const before = clock.now();
    const waits = [one('sleep', in1s('time', 60_000)), one('hook', in1s('webhook', 60_000))];
    expect(await ends(waits, { hook: { body: { n: 1 } } })).toEqual({
      hook: { body: { n: 1 }, at: expect.any(Number) },
    });
    expect(clock.now() - before).toBeLessThan(60_000);
  });

  test.each<[string, ReturnType<typeof one>, GivenSignal, string]>([
    ['an answer to a webhook', one('w', in1s('webhook')), { action: 'accept' }, "a webhook gets a 'body'"],
    ['a body for a link', one('w', in1s('link'), { question }), { body: 1 }, 'a link gets an answer'],
    [
      'content that declines',
      one('w', in1s('link'), { question }),
      { action: 'decline', content: { ok: true } },
      'only an answer that accepts has content',
    ],
    [
      'a body that does not fit, at its place',
      one('w', in1s('webhook'), { schema: { properties: { n: { type: 'number' } } } }),
      { body: { n: 'x' } },
      'the body at /n must be number',
    ],
    [
      'a body that does not fit as a whole',
      one('w', in1s('webhook'), { schema: { type: 'object' } }),
      { body: 7 },
      'the body at / must be object',
    ],
  ])('refuses %s', async (_what, wait, signal, why) => {
    await expect(ends([wait], { w: signal })).rejects.toThrow(`The test's signal for 'w' would be refused: ${why}`);
  });

  test('takes what the server takes, and says what is missing', async () => {
    const at = expect.any(Number);
    const link = one('w', in1s('link'), { question });
    const accepted = { action: 'accept', content: { ok: true } } as const;
    expect(await ends([link], { w: accepted })).toEqual({ w: { ...accepted, at } });
    expect(await ends([link], { w: { action: 'decline' } })).toEqual({ w: { action: 'decline', at } });
    const hook = one('w', in1s('webhook'), { schema: { type: 'object' } });
    expect(await ends([hook], { w: { body: {} } })).toEqual({ w: { body: {}, at } });
    await expect(ends([hook])).rejects.toThrow("The tool waits for 'w', and the test has no signal for it");
    await expect(ends([one('toString', in1s('webhook'))], {})).rejects.toThrow("waits for 'toString'");
  });

  test('comes in no sleep of a run whose task was cancelled', async () => {
    const before = clock.now();
    await expect(clock.sleep(60_000, AbortSignal.abort())).rejects.toMatchObject({ name: 'TaskEnded' });
    expect(clock.now() - before).toBeLessThan(60_000);
  });
});
