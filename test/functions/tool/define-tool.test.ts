import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import {
  defineTool,
  elicitForm,
  elicitUrl,
  sample,
  TaskEnded,
  ToolError,
  type ToolResult,
} from '../../../functions/tool/index.ts';
import { runTool } from '../../../functions/tool/testing.ts';
import { accept, anything, event, memoryContext } from './in-memory.ts';

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

  test('the message of a ToolError is kept like a result: a workflow carries 256 KiB', async () => {
    const tool = defineTool(anything, () => {
      throw new ToolError('x'.repeat(300_000));
    });
    const context = { ...memoryContext(), keep: async (_task: unknown, kept: object) => ({ stored: kept }) };
    expect(await tool.runWith(event(), context)).toMatchObject({ stored: { isError: true } });
    expect(await tool.runWith(event({ task: undefined } as never), context)).toMatchObject({ isError: true });
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

test('a prompt is one message of the user, with its most tokens and what else is given', () => {
  expect(sample('A poem', 10, { temperature: 0 })).toEqual({
    method: 'sampling/createMessage',
    params: {
      messages: [{ role: 'user', content: { type: 'text', text: 'A poem' } }],
      ...{ maxTokens: 10, temperature: 0 },
    },
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
