import { createHash } from 'node:crypto';
import { Script } from 'node:vm';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { bounded } from '../../../../functions/mcp/bounded-validation.ts';
import type { Tool } from '../../../../functions/mcp/context.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { moved } from '../../../../functions/tasks/s3/moved-input.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { asked, hundredth, idOf, setup, T0, task } from '../support/listener.ts';

afterEach(() => void vi.restoreAllMocks());

describe('a listener (E-24 to E-27)', () => {
  describe('of results that lie in S3', () => {
    /** Both tasks have ended with this result, which does not fit its outputSchema: what is sent of it is short. */
    async function misfits(bytes: number) {
      const here = await setup();
      const text = JSON.stringify('x'.repeat(bytes - 2));
      const sha256 = createHash('sha256').update(text).digest('hex');
      const result = JSON.stringify({ resultRef: { bytes, sha256 } });
      for (const n of [1, 2]) here.change(n, { status: 'completed', result, updatedAt: T0 + n });
      const tool = here.server.tools.get('optional') as Tool;
      const tools = new Map([['optional', { ...tool, validateOutput: () => false }]]);
      Object.assign(here.server, { results: { get: async () => text }, tools });
      vi.spyOn(console, 'warn').mockImplementation(() => {});
      return here;
    }
    const ended = (all: readonly string[]) => all.filter((frame) => frame.includes('"completed"'));

    test('fetches 20 MB at most, however little it sends of them (E-24)', async () => {
      const { frames } = await misfits(limits.listenBytes * 0.006);
      hundredth();
      const all = await frames(1, 2);
      expect(ended(all)).toHaveLength(1);
      expect(all.at(-1)).toContain('"resultType":"complete"');
    });

    test('gives the check of each of them all of its time (A-19)', async () => {
      const here = await misfits(limits.result.inline + 1);
      const tool = here.server.tools.get('optional') as Tool;
      // More than half of the time that checks of one turn have together.
      const takes = limits.check.together * 0.6;
      let used = 0;
      vi.spyOn(process, 'threadCpuUsage').mockImplementation(() => ({ user: used * 1_000, system: 0 }));
      vi.spyOn(Script.prototype, 'runInThisContext').mockImplementation((options) => {
        const { timeout = 0 } = options as { timeout?: number };
        used += Math.min(takes, timeout);
        if (timeout < takes) throw Object.assign(new Error('timed out'), { code: 'ERR_SCRIPT_EXECUTION_TIMEOUT' });
        return true;
      });
      const validateOutput = bounded(() => true, 'a result');
      Object.assign(here.server, { tools: new Map([['optional', { ...tool, validateOutput }]]) });
      const all = await here.frames(1, 2);
      expect(ended(all).filter((frame) => frame.includes('"isError":true'))).toEqual([]);
      expect(ended(all)).toHaveLength(2);
    });

    test('ends at the next one after half a second of the processor (E-24)', async () => {
      const { frames } = await misfits(limits.result.inline + 1);
      let user = 0;
      const clock = process.threadCpuUsage === undefined ? 'cpuUsage' : 'threadCpuUsage';
      vi.spyOn(process, clock).mockImplementation(() => {
        user += limits.listenWork * 1_001;
        return { user, system: 0 };
      });
      const all = await frames(1, 2);
      expect(ended(all)).toHaveLength(1);
      expect(all.at(-1)).toContain('"resultType":"complete"');
    });
  });

  test('hears of a result that S3 gives late, and nothing of it before', async () => {
    const ref = JSON.stringify({ resultRef: { bytes: limits.result.inline + 1, sha256: 'f'.repeat(64) } });
    const here = await setup({
      1000: () => here.change(1, { status: 'completed', result: ref, updatedAt: T0 + 1 }),
      3000: () => here.change(1, { result: '"late"' }),
    });
    const all = await here.messages(1);
    expect(all.map(({ params, result }) => params?.status ?? result?.resultType)).toEqual([
      ...[undefined, 'working', 'completed', 'complete'],
    ]);
    // A look waits for S3 up to its own pace, and here every wait passes.
    expect(here.elapsed()).toBe(4_000);
  });

  test('hears of a result in S3 after a report of a tool whose clock is ahead', async () => {
    const text = JSON.stringify('x'.repeat(limits.result.inline));
    const sha256 = createHash('sha256').update(text).digest('hex');
    const ref = JSON.stringify({ resultRef: { bytes: text.length, sha256 } });
    const here = await setup({
      1000: () => here.change(1, { statusMessage: 'from the future', updatedAt: T0 + 3_000_000 }),
      2000: () => here.change(1, { status: 'completed', result: ref, updatedAt: T0 + 2_000 }),
    });
    const late = vi.fn(async () => text);
    Object.assign(here.server, { results: { get: late } });
    const all = await here.messages(1);
    expect(all.map(({ params, result }) => params?.status ?? result?.resultType)).toEqual([
      ...[undefined, 'working', 'working', 'completed', 'complete'],
    ]);
    expect(late).toHaveBeenCalledTimes(1);
  });

  describe('of a task whose questions are in S3, and whose tool has a clock that is ahead,', () => {
    /** The task asks in round 1, as of this time. */
    const asking = (updatedAt: number) => {
      const key = { owner: 'ann', taskId: idOf(1) };
      const record: TaskRecord = { ...create(key, task, T0), asked, arguments: '{}', status: 'input_required' };
      const { record: slim, text } = moved(record);
      return { record: { ...slim, updatedAt }, sha256: (slim.inputRef ?? '').slice(0, 64), text };
    };
    const statuses = async (here: Awaited<ReturnType<typeof setup>>) =>
      (await here.messages(1)).flatMap(({ params }) => params?.status ?? []);

    test('hears of the questions after a later report', async () => {
      const { record, sha256, text } = asking(T0 + 2_000);
      const here = await setup({
        1000: () => here.change(1, { statusMessage: 'from the future', updatedAt: T0 + 3_000_000 }),
        2000: () => here.change(1, record),
      });
      await here.objects.put({ ...record, sha256 }, text);
      expect(await statuses(here)).toEqual(['working', 'working', 'input_required']);
    });

    test('hears of them again once an answer was refused (B-19)', async () => {
      const { record, sha256, text } = asking(T0 + 1_000);
      const again = { 1000: () => here.change(1, record), 8000: () => here.change(1, { updatedAt: T0 + 8_000 }) };
      const here = await setup(again, 20_500);
      await here.objects.put({ ...record, sha256 }, text);
      expect(await statuses(here)).toEqual(['working', 'input_required', 'input_required']);
    });

    test('hears no more of them in the next round, however late S3 gives them', async () => {
      const { record, text } = asking(T0 + 3_000_000);
      const slow = Promise.withResolvers<string>();
      const here = await setup({
        1000: () => here.change(1, record),
        3000: () => here.change(1, { status: 'working', round: 2, updatedAt: T0 + 3_000 }),
        4000: () => slow.resolve(text),
      });
      vi.spyOn(here.objects, 'get').mockReturnValue(slow.promise);
      expect(await statuses(here)).toEqual(['working', 'working']);
    });
  });
});
