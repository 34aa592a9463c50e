import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { defineTool, elicitForm, elicitUrl } from '../../../functions/tool/index.ts';
import { runTool } from '../../../functions/tool/testing.ts';

const anything = { description: 'd', inputSchema: { type: 'object' } } as const;
const accept = (content: object) => ({ action: 'accept', content });
const ask = elicitForm('Really?', { ok: { type: 'boolean' }, why: { type: 'string' } }, ['why']);

/** Asks three times, one after the other. */
const asker = defineTool(anything, async (_args, task) => {
  const { one } = await task.requireInput({ one: ask });
  await task.step('between', () => 1);
  const { two } = await task.requireInput({ two: ask });
  const { three } = await task.requireInput({ three: ask });
  return [one.action, two.action, three.action];
});
const decline = { action: 'decline' };

describe('rounds', () => {
  test.each([true, false])('a tool may ask any number of times, direct %s', async (direct) => {
    const answers = { one: accept({ ok: true }), two: decline, three: { action: 'cancel' } };
    const { result, rounds } = await runTool(asker, {}, { answers, direct });
    expect([result, rounds]).toEqual([['accept', 'decline', 'cancel'], 4]);
  });

  test('each question has a name of its own, also beside one that is called like a repeated one', async () => {
    const tool = defineTool(anything, async (_args, task) => {
      const { 'a~2': other } = await task.requireInput({ 'a~2': ask });
      const { a: first } = await task.requireInput({ a: ask });
      const { a: second } = await task.requireInput({ a: ask });
      return [other.action, first.action, second.action];
    });
    const answers = { 'a~2': decline, a: accept({ ok: true }), 'a~3': { action: 'cancel' } };
    expect((await runTool(tool, {}, { answers })).result).toEqual(['decline', 'accept', 'cancel']);
  });

  test('a tool that never stops asking ends the test', async () => {
    let asked = 0;
    const tool = defineTool(anything, (_args, task) => task.requireInput({ [`q${asked++}`]: ask }));
    const answers = new Proxy({}, { get: () => decline });
    await expect(runTool(tool, {}, { answers })).rejects.toThrow('after 1000 rounds');
  });
});

describe('what the server would refuse, a test refuses', () => {
  test.each([
    [{ one: accept({ ok: 'yes' }) }, /'one' would be refused: content\['ok'\] must be true or false/],
    [{ one: accept({}) }, /content\['ok'\] is required/],
    [{ one: { action: 'maybe' } }, /action must be/],
    [{}, /no answer/],
  ])('the answers %o', async (answers, message) => {
    await expect(runTool(asker, {}, { answers })).rejects.toThrow(message);
  });

  test('a question the caller does not take', async () => {
    await expect(runTool(asker, {}, { accepts: ['elicitation/create:url'] })).rejects.toThrow(
      "'one', but its caller does not accept elicitation/create",
    );
    const tool = defineTool(anything, (_args, task) =>
      task.requireInput({ in: elicitUrl('Log in', 'https://a.example') }),
    );
    await expect(runTool(tool, {}, { accepts: ['elicitation/create'] })).rejects.toThrow(
      'accept elicitation/create:url',
    );
  });

  test('a question the protocol does not have', async () => {
    const nested = elicitForm('?', { deep: { type: 'object' } as never });
    const tool = defineTool(anything, (_args, task) => task.requireInput({ nested }));
    await expect(runTool(tool, {})).rejects.toThrow("'nested' is not a question for a client");
  });

  test.each([true, false])('a name of a question that no task can keep, direct %s', async (direct) => {
    const tool = defineTool(anything, (_args, task) => task.requireInput({ ['a'.repeat(129)]: ask }));
    await expect(runTool(tool, {}, { direct })).rejects.toThrow('by a name of at most 128 bytes');
  });

  test('questions that are none', async () => {
    const tool = defineTool(anything, () => ({ inputRequests: {} }));
    await expect(runTool(tool, {})).rejects.toThrow('there is no question');
  });
});

describe('answers', () => {
  const direct = (inputResponses: Record<string, Record<string, unknown>>) => ({
    ...{ name: 't', arguments: {}, accepts: [], inputResponses, requestState: null },
  });

  test('that do not fit, which a direct call does not check, are asked for again', async () => {
    for (const wrong of [accept({ ok: 'yes' }), { action: 'accept' }, {}]) {
      expect(await asker(direct({ one: wrong }))).toMatchObject({ inputRequests: { one: ask } });
    }
    expect(await asker(direct({ one: decline }))).toMatchObject({ inputRequests: { two: ask } });
  });

  test('to a form without required fields still have content', async () => {
    const tool = defineTool(anything, async (_args, task) => {
      const { maybe } = await task.requireInput({ maybe: elicitForm('?', { note: { type: 'string' } }, ['note']) });
      return maybe.action === 'accept' ? (maybe.content.note ?? 'none') : maybe.action;
    });
    expect((await runTool(tool, {}, { answers: { maybe: { action: 'accept' } } })).result).toBe('none');
  });

  test('with a default may be missing, and so may arguments', async () => {
    const inputSchema = { type: 'object', properties: { size: { type: 'integer', default: 3 } } } as const;
    const tool = defineTool({ description: 'd', inputSchema }, async ({ size }, task) => {
      expectTypeOf(size).toEqualTypeOf<number | undefined>();
      const { form } = await task.requireInput({
        form: elicitForm('?', { colour: { type: 'string', enum: ['red', 'blue'], default: 'red' } }, ['colour']),
      });
      if (form.action === 'accept') expectTypeOf(form.content.colour).toEqualTypeOf<'red' | 'blue' | undefined>();
      return { size };
    });
    expect((await runTool(tool, {}, { answers: { form: accept({}) } })).result).toEqual({});
    // @ts-expect-error the argument is a number
    await runTool(tool, { size: 'x' }, { answers: { form: decline } });
  });
});

test('two steps of one name are a mistake; a step that failed may be tried again', async () => {
  const twice = defineTool(anything, async (_args, task) => {
    for (const page of [1, 2]) await task.step('fetch', () => page);
  });
  await expect(runTool(twice, {})).rejects.toThrow("Step 'fetch' comes twice");
});

describe('a run that dies after a step', () => {
  const tool = (done: string[]) =>
    defineTool(anything, async (_args, task) => {
      for (const name of ['one', 'two', 'three']) {
        await task.progress(name);
        await task.step(name, () => void done.push(name)).catch(() => done.push('caught'));
      }
      const { one } = await task.requireInput({ one: ask });
      return { action: one.action, round: task.round, attempt: task.attempt };
    });
  const answers = { one: decline };

  test.each(['one', 'three'])('starts again, and does no step twice: %s', async (crashAfter) => {
    const done: string[] = [];
    const { result, rounds } = await runTool(tool(done), {}, { answers, crashAfter });
    expect(done).toEqual(['one', 'two', 'three']);
    expect([result, rounds]).toEqual([{ action: 'decline', round: 2, attempt: 0 }, 2]);
  });

  test('reaches nothing any more, whatever it still does', async () => {
    const work: string[] = [];
    const branches = defineTool(anything, async (_args, task) => {
      const branch = async (name: string) => {
        await task.step(name, () => 1);
        await task.progress(name);
        work.push(`${name} ${task.attempt}`);
      };
      await Promise.all([branch('a'), branch('b')]);
      return { attempt: task.attempt };
    });
    const { result, progress } = await runTool(branches, {}, { crashAfter: 'a' });
    expect(result).toEqual({ attempt: 1 });
    expect(work.toSorted()).toEqual(['a 1', 'b 1']);
    expect(progress).toHaveLength(2);
  });

  test('has its signal aborted, so that its work ends', async () => {
    let aborted = 0;
    const waits = defineTool(anything, async (_args, task) => {
      if (task.attempt === 0) task.signal.addEventListener('abort', () => aborted++);
      await task.step('one', () => 1);
      if (task.attempt > 0) while (aborted === 0) await sleep(20);
      return null;
    });
    await runTool(waits, {}, { crashAfter: 'one' });
    expect(aborted).toBe(1);
  });

  test('of a name that no step has is a mistake of the test', async () => {
    await expect(runTool(tool([]), {}, { answers, crashAfter: 'four' })).rejects.toThrow("no step 'four'");
    await expect(runTool(tool([]), {}, { answers, crashAfter: 'one', direct: true })).rejects.toThrow("no step 'one'");
  });

  test('finds a step with atMostOnce interrupted if it dies in it', async () => {
    const pays = defineTool(anything, async (_args, task) => {
      if (task.attempt === 0) void task.step('pay', () => new Promise(() => {}), { atMostOnce: true });
      await task.step('other', () => 1);
      return task.step('pay', () => 'paid', { atMostOnce: true }).catch((error: Error) => error.name);
    });
    expect((await runTool(pays, {}, { crashAfter: 'other' })).result).toBe('StepInterrupted');
  });
});

test('a run with a given journal does none of its steps', async () => {
  const done: string[] = [];
  const tool = defineTool(anything, async (_args, task) => {
    const pages = [];
    for (const name of ['one', 'two', '__proto__']) {
      pages.push(await task.step(name, () => done.push(name) && `${name} done`));
    }
    return { pages, attempt: task.attempt };
  });
  const journal = JSON.parse('{"one":"given","__proto__":null}');
  const { result } = await runTool(tool, {}, { journal });
  expect(result).toEqual({ pages: ['given', 'two done', null], attempt: 1 });
  expect(done).toEqual(['two']);
});

describe('definition', () => {
  test('is what addTool takes, with a schema of any library', () => {
    const definition = { description: 'd', title: 'T', inputSchema: z.object({ n: z.number() }) };
    expect(defineTool(definition, ({ n }) => n).definition).toEqual({
      description: 'd',
      title: 'T',
      inputSchema: expect.objectContaining({ type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }),
    });
    expect(defineTool(anything, () => 1).definition).toEqual(anything);
  });

  test('of a library that cannot write a JSON Schema says what to do', () => {
    const validate = (value: unknown) => ({ value });
    const tool = defineTool(
      { description: 'd', inputSchema: { '~standard': { version: 1, vendor: 'odd', validate } } },
      () => 1,
    );
    expect(() => tool.definition).toThrow(/inputSchema: odd cannot write a JSON Schema: register the tool with/);
  });
});
