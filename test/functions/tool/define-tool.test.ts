import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import {
  defineTool,
  elicitForm,
  elicitUrl,
  sample,
  TaskEnded,
  ToolError,
  type ToolEvent,
  type ToolResult,
} from '../../../functions/tool/index.ts';
import { memoryJournal } from '../../../functions/tool/journal/port.ts';
import type { RunContext } from '../../../functions/tool/run-context.ts';
import { runTool } from '../../../functions/tool/testing.ts';

const words = {
  description: 'Counts words',
  inputSchema: {
    type: 'object',
    properties: { text: { type: 'string' }, limit: { type: 'integer' } },
    required: ['text'],
  },
  outputSchema: {
    type: 'object',
    properties: { words: { type: 'number' } },
    required: ['words'],
    additionalProperties: false,
  },
} as const;
const anything = { description: 'd', inputSchema: { type: 'object' } } as const;
const accept = (content: object) => ({ action: 'accept', content });

const event = (over: Partial<ToolEvent> = {}): ToolEvent => ({
  name: 't',
  arguments: {},
  task: { taskId: 't', owner: 'o', table: 'x', results: 'r', round: 1, attempt: 0, deadline: 0 },
  accepts: [],
  inputResponses: {},
  requestState: null,
  ...over,
});
/** A task in memory, as several attempts at one round see it. */
function memoryContext(): RunContext & { alive_: boolean } {
  const context = {
    alive_: true,
    progress: async () => context.alive_,
    alive: async () => context.alive_,
    journal: memoryJournal(),
    keep: async (_task: unknown, result: unknown) => result,
  };
  return context as RunContext & { alive_: boolean };
}

describe('types', () => {
  test('arguments and result are inferred from the schemas, with nothing to annotate', () => {
    defineTool(words, (args, task) => {
      expectTypeOf(args.text).toEqualTypeOf<string>();
      expectTypeOf(args.limit).toEqualTypeOf<number | undefined>();
      expectTypeOf(task.signal).toEqualTypeOf<AbortSignal>();
      return { words: 1 };
    });
    // @ts-expect-error the argument does not exist
    defineTool(words, ({ nonsense }) => ({ words: nonsense }));
    // @ts-expect-error words is a number
    defineTool(words, () => ({ words: 'one' }));
    // @ts-expect-error words is missing
    defineTool(words, () => ({}));
    defineTool(words, (): ToolResult<{ words: number }> => ({ content: [], structuredContent: { words: 1 } }));
    // @ts-expect-error words is a number in structured content, too
    defineTool(words, () => ({ content: [], structuredContent: { words: 'one' } }));
  });

  test('a Standard Schema gives the output type of its library, defaults included', () => {
    const schema = z.object({ n: z.number().default(3), when: z.string().optional() });
    defineTool({ description: 'd', inputSchema: schema }, (args) => {
      expectTypeOf(args).toEqualTypeOf<{ n: number; when?: string | undefined }>();
      return args.n;
    });
  });

  test('answers have the types of their questions', () => {
    defineTool(anything, async (_args, task) => {
      const answers = await task.requireInput({
        form: elicitForm(
          '?',
          { ok: { type: 'boolean' }, note: { type: 'string' }, size: { type: 'string', enum: ['s', 'm'] } },
          ['note'],
        ),
        login: elicitUrl('Log in', 'https://example.com'),
        poem: sample('A poem', 10),
      });
      if (answers.form.action === 'accept') {
        expectTypeOf(answers.form.content.ok).toEqualTypeOf<boolean>();
        expectTypeOf(answers.form.content.note).toEqualTypeOf<string | undefined>();
        expectTypeOf(answers.form.content.size).toEqualTypeOf<'s' | 'm'>();
      }
      // @ts-expect-error declined forms have no content
      answers.form.content.ok;
      expectTypeOf(answers.login.action).toEqualTypeOf<'accept' | 'decline' | 'cancel'>();
      expectTypeOf(answers.poem.content.text).toEqualTypeOf<string | undefined>();
      // @ts-expect-error it was not asked
      answers.other;
    });
  });
});

describe('a run', () => {
  test.each([true, false])('the same handler serves direct calls and tasks: direct %s', async (direct) => {
    const tool = defineTool(words, async ({ text }, task) => {
      await task.progress('Counting', { progress: 1, total: 1 });
      expect(task.id === undefined).toBe(direct);
      return { words: text.split(' ').length };
    });
    const { result, progress } = await runTool(tool, { text: 'a b c' }, { direct });
    expect(result).toEqual({ words: 3 });
    expect(progress).toEqual(direct ? [] : [{ message: 'Counting', progress: 1, total: 1 }]);
  });

  test('a ToolError is an error result with its message; other errors end the run (A-15)', async () => {
    const tool = defineTool(anything, () => {
      throw new ToolError('No such file');
    });
    expect((await runTool(tool, {})).result).toEqual({
      content: [{ type: 'text', text: 'No such file' }],
      isError: true,
    });
    const broken = defineTool(anything, () => {
      throw new Error('secret');
    });
    await expect(runTool(broken, {})).rejects.toThrow('secret');
  });

  test('a Standard Schema judges and fills in the arguments', async () => {
    const tool = defineTool({ description: 'd', inputSchema: z.object({ n: z.number().default(3) }) }, ({ n }) => n);
    expect((await runTool(tool, {})).result).toBe(3);
    expect((await runTool(tool, { n: 'x' as never })).result).toMatchObject({ isError: true });
  });
});

describe('questions', () => {
  const ask = elicitForm('Really?', { ok: { type: 'boolean' } });

  test('end the run; the answers start it again, in as many rounds as needed', async () => {
    let runs = 0;
    const tool = defineTool(anything, async (_args, task) => {
      runs++;
      const { first } = await task.requireInput({ first: ask });
      const { second, third } = await task.requireInput({ second: ask, third: ask });
      return [first.action, second.action, third.action, task.round];
    });
    const answers = { first: accept({ ok: true }), second: { action: 'decline' }, third: { action: 'cancel' } };
    const { result, rounds, asked } = await runTool(tool, {}, { answers });
    expect(result).toEqual(['accept', 'decline', 'cancel', 3]);
    expect([rounds, runs]).toEqual([3, 3]);
    expect(Object.keys(asked)).toEqual(['first', 'second', 'third']);
  });

  test('the same key asked twice is two questions', async () => {
    const tool = defineTool(anything, async (_args, task) => {
      const one = await task.requireInput({ more: ask });
      const two = await task.requireInput({ more: ask });
      return [one.more, two.more];
    });
    const answers = { more: accept({ ok: true }), 'more~2': accept({ ok: false }) };
    expect((await runTool(tool, {}, { answers })).result).toEqual([accept({ ok: true }), accept({ ok: false })]);
  });
});

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

describe('a task that is over', () => {
  const spin = defineTool(anything, async (_args, task): Promise<string> => {
    while (!task.signal.aborted) await sleep(5);
    throw task.signal.reason;
  });

  test('aborts the signal within a heartbeat, though the run reports nothing', async () => {
    const context = memoryContext();
    context.alive_ = false;
    expect(await spin.runWith(event(), context)).toMatchObject({ isError: true });
  });

  test('throws at the next report, step or question', async () => {
    const caught: unknown[] = [];
    const tool = defineTool(anything, async (_args, task) => {
      await task.progress('x').catch((error: unknown) => caught.push(error));
      await task.step('s', () => 1).catch((error: unknown) => caught.push(error));
    });
    const context = memoryContext();
    context.alive_ = false;
    await tool.runWith(event(), context);
    expect(caught.every((error) => error instanceof TaskEnded)).toBe(true);
    expect(caught).toHaveLength(2);
  });

  test('a read that fails does not stop it', async () => {
    const context = { ...memoryContext(), alive: () => Promise.reject(new Error('throttled')) };
    const tool = defineTool(anything, async (_args, task) => {
      await sleep(1_100);
      return task.signal.aborted;
    });
    expect(await tool.runWith(event(), context)).toBe(false);
  });
});
