import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { defineTool, elicitForm, type ToolEvent } from '../../../functions/tool/index.ts';
import { runTool } from '../../../functions/tool/testing.ts';
import { accept, anything, event, memoryContext } from './in-memory.ts';

describe('variables and steps', () => {
  const ask = elicitForm('Go on?', { ok: { type: 'boolean' } });

  test('survive rounds; a finished step is not done again', async () => {
    let charged = 0;
    const tool = defineTool(anything, async (_args, task) => {
      const receipt = await task.step('charge', () => ({ receipt: ++charged }));
      if (task.getVariable('seen') === undefined) task.setVariable('seen', { in: task.round });
      await task.requireInput({ go: ask });
      return { receipt, seen: task.getVariable('seen') };
    });
    const { result } = await runTool(tool, {}, { answers: { go: accept({ ok: true }) } });
    expect(result).toEqual({ receipt: { receipt: 1 }, seen: { in: 1 } });
    expect(charged).toBe(1);
  });

  test('a run that crashes after a step is retried without doing it again', async () => {
    let charged = 0;
    const tool = defineTool(anything, async (_args, task) => {
      await task.step('charge', () => ++charged);
      if (task.attempt === 0) throw new Error('crash');
      return charged;
    });
    const context = memoryContext();
    await expect(tool.runWith(event(), context)).rejects.toThrow('crash');
    const task = { ...event().task, attempt: 1 } as ToolEvent['task'];
    expect(await tool.runWith(event({ ...(task && { task }) }), context)).toBe(1);
  });

  test('a step that throws is not remembered', async () => {
    let tries = 0;
    const tool = defineTool(anything, async (_args, task) => {
      const once = () => task.step('flaky', () => (++tries === 1 ? Promise.reject(new Error('no')) : 'yes'));
      return once().catch(once);
    });
    expect((await runTool(tool, {})).result).toBe('yes');
  });

  test.each([
    ['a string of 64,001 characters', 'x'.repeat(64_001), /64000 characters/],
    ['eleven levels', JSON.parse('['.repeat(11) + ']'.repeat(11)), /10 levels/],
    ['a function', () => 1, /not JSON/],
    ['more than all of it', Array.from({ length: 200 }, () => 'x'.repeat(1_000)), /100000 bytes/],
  ])('too much for a variable is an error that names it and the limit: %s', async (_what, value, message) => {
    const tool = defineTool(anything, (_args, task) => task.setVariable('big', value));
    const { result } = await runTool(tool, {});
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(message) }] });
  });

  const tooLarge = ['x'.repeat(60_000), 'x'.repeat(60_000)];

  test('a variable that does not fit keeps its value, and what comes after it has room', async () => {
    const tool = defineTool(anything, async (_args, task) => {
      task.setVariable('cache', 'small');
      expect(() => task.setVariable('cache', tooLarge)).toThrow(/100000 bytes/);
      const charged = await task.step('charge', () => 'receipt');
      await task.requireInput({ go: ask });
      return { charged, cache: task.getVariable('cache') };
    });
    const { result } = await runTool(tool, {}, { answers: { go: accept({ ok: true }) } });
    expect(result).toEqual({ charged: 'receipt', cache: 'small' });
  });

  const nested = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

  test.each([
    ['too large', false, () => 'x'.repeat(6_000_001), /6000000/],
    ['too deep', false, () => nested(501), /500 levels/],
    ['no JSON', false, () => ({ toJSON: () => JSON.parse('{') }), /not JSON/],
    ['too large', true, () => tooLarge, /100000 bytes/],
    ['too deep', true, () => nested(11), /10 levels/],
  ])('a step with a result that is %s is not done again: direct %s', async (_what, direct, make, message) => {
    let charged = 0;
    const tool = defineTool(anything, async (_args, task) => {
      const charge = task.step('charge', () => {
        charged++;
        return make();
      });
      await expect(charge).rejects.toThrow(message);
      await task.step('next', () => 'done');
      await task.requireInput({ go: ask });
      return { rounds: task.round };
    });
    const { result } = await runTool(tool, {}, { direct, answers: { go: accept({ ok: true }) } });
    expect([result, charged]).toEqual([{ rounds: direct ? 1 : 2 }, 1]);
  });

  test('steps of a direct call that are done at once leave room for each other', async () => {
    const done: string[] = [];
    // It fits, but not beside what is kept of the others.
    const work = (name: string) => async () => {
      done.push(name);
      await setImmediate();
      return ['x'.repeat(49_920), 'x'.repeat(49_920)];
    };
    const tool = defineTool(anything, async (_args, task) => {
      const steps = ['a', 'b', 'c', 'd'].map((name) => task.step(name, work(name)));
      const kept = (await Promise.allSettled(steps)).map(({ status }) => status);
      await task.requireInput({ go: ask });
      return { kept };
    });
    const { result } = await runTool(tool, {}, { direct: true, answers: { go: accept({ ok: true }) } });
    expect(result).toEqual({ kept: ['rejected', 'rejected', 'rejected', 'rejected'] });
    expect(done.join('')).toBe('abcd');
  });

  test('a step under way when the run asks is done once, and one behind it in the next round', async () => {
    const done: string[] = [];
    const work = (name: string) => async () => {
      await setImmediate();
      done.push(name);
      return name;
    };
    const tool = defineTool(anything, async (_args, task) => {
      const charge = async () => [await task.step('charge', work('charge')), await task.step('ship', work('ship'))];
      const [charged] = await Promise.all([charge(), task.requireInput({ go: ask })]);
      return { charged, rounds: task.round };
    });
    const { result } = await runTool(tool, {}, { answers: { go: accept({ ok: true }) } });
    expect([result, done]).toEqual([{ charged: ['charge', 'ship'], rounds: 2 }, ['charge', 'ship']]);
  });

  test('a step of a direct call without room for any result does no work', async () => {
    let charged = 0;
    const tool = defineTool(anything, async (_args, task) => {
      task.setVariable('full', ['x'.repeat(60_000), 'x'.repeat(39_940)]);
      await task.step('charge', () => ++charged);
    });
    const { result } = await runTool(tool, {}, { direct: true });
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(/100000 bytes/) }] });
    expect(charged).toBe(0);
  });

  test.each([
    ['a long string', () => 'z'.repeat(64_001), /64000 characters/],
    ['many levels', () => JSON.parse('['.repeat(11) + ']'.repeat(11)), /10 levels/],
  ])('what toJSON returns is held to the same bounds: %s', async (_what, toJSON, message) => {
    const tool = defineTool(anything, (_args, task) => task.setVariable('x', Object.create({ toJSON })));
    const { result } = await runTool(tool, {});
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(message) }] });
  });

  test('what toJSON returns is held to the same bounds: nothing at all is null', async () => {
    const tool = defineTool(anything, (_args, task) => {
      task.setVariable('x', Object.create({ toJSON: () => undefined }));
      return { x: task.getVariable('x') };
    });
    expect((await runTool(tool, {})).result).toEqual({ x: null });
  });

  test('answers of a plain call that do not fit before a question are an error result', async () => {
    const questions = Object.fromEntries([1, 2].map((n) => [`q${n}`, { ...ask }]));
    const tool = defineTool(anything, async (_args, task) => {
      if (task.getVariable('full') === undefined) task.setVariable('full', ['x'.repeat(60_000), 'x'.repeat(39_900)]);
      await task.requireInput(questions);
      await task.requireInput({ again: ask });
    });
    const answer = accept({ ok: true });
    const { result } = await runTool(tool, {}, { direct: true, answers: { q1: answer, q2: answer, again: answer } });
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(/100000 bytes/) }] });
  });

  test('any JSON within bounds comes back unchanged, prototype names included', async () => {
    const value = fc.jsonValue({ maxDepth: 5 });
    await fc.assert(
      fc.asyncProperty(fc.string(), value, async (name, json) => {
        const wanted = JSON.parse(JSON.stringify(json));
        const tool = defineTool(anything, async (_args, task) => {
          if (task.round === 1) task.setVariable(name, json);
          await task.requireInput({ go: ask });
          return { got: task.getVariable(name) };
        });
        const { result } = await runTool(tool, {}, { answers: { go: accept({ ok: true }) } });
        expect(result).toEqual({ got: wanted });
      }),
      { numRuns: 50 },
    );
    const tool = defineTool(anything, (_args, task) => task.getVariable('constructor') ?? 'none');
    expect((await runTool(tool, {})).result).toBe('none');
  });
});
