import { describe, expect, test } from 'vitest';
import { limits } from '../../../../functions/tasks/limits.ts';
import { withOutcomeApart } from '../../../../functions/tasks/outcome/store-apart.ts';
import { storeIfLarge } from '../../../../functions/tasks/results/large-result.ts';
import { isOf, placeOf, storedResult } from '../../../../functions/tasks/results/result-ref.ts';
import { inputStore } from '../../../../functions/tasks/s3/input-store.ts';
import type { TaskContext } from '../../../../functions/tasks/tool-contract.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { after } from '../../../../functions/tasks/transitions/change.ts';
import { cancel, finish } from '../../../../functions/tasks/transitions/end.ts';
import { createObjects } from '../../../support/engine/objects.ts';

const T0 = 1_700_000_000_000;
const { inline } = limits.result;
const task = { tool: 'x', ttl: 60_000, timeout: 60_000, accepts: [], legacy: false };
const record = create({ owner: 'o', taskId: 't' }, task, T0);
const to = (objects: ReturnType<typeof createObjects>) => ({ results: objects, inputs: inputStore(objects) });
const ended = (text: string, isError = false) => finish(record, { text, asks: false, isError }, undefined, T0 + 1);

test('a result that the record can hold stays, to the byte, and so does a change without one', async () => {
  const objects = createObjects();
  for (const change of [ended('x'.repeat(inline)), ended('é'.repeat(inline / 2)), cancel(T0)]) {
    expect(await withOutcomeApart(record, change, to(objects))).toBe(change);
  }
  expect(objects.did).toEqual([]);
});

test('a larger one is stored first, and the change refers to it where no tool can write', async () => {
  const objects = createObjects();
  const text = JSON.stringify({ a: 'é'.repeat(inline / 2), n: '🙂' });
  const { set, ...rest } = await withOutcomeApart(record, ended(text), to(objects));
  const { set: before, ...same } = ended(text);
  expect([rest, { ...set, result: text }]).toEqual([same, before]);
  const stored = storedResult(set.result ?? '');
  if (stored === undefined) throw new Error('The change holds no reference');
  const done = { ...record, ...set };
  expect(isOf(stored, text)).toBe(true);
  expect(await objects.get(placeOf(done, stored))).toBe(text);
  expect([...objects.objects.keys()].every((key) => key.startsWith('outcomes/'))).toBe(true);
});

/** Of a caller, 1,024 bytes at most. */
const CALLERS = [0, 24, 60, 400, 1_024];

test.each(CALLERS)('a result of any size comes back whole beside a caller of %i bytes', async (bytes) => {
  const objects = createObjects();
  const called = { ...record, ...(bytes > 0 && { caller: 'c'.repeat(bytes) }) };
  for (let size = 2; size <= inline + 20; size++) {
    const text = JSON.stringify('r'.repeat(size - 2));
    const done = after(called, await withOutcomeApart(called, ended(text), to(objects)));
    const stored = storedResult(done.result ?? '');
    expect(stored === undefined ? done.result : await objects.get(placeOf(done, stored)), `${size}`).toBe(text);
    expect(stored === undefined, `${size}`).toBe(size + bytes <= inline);
  }
});

test.each(CALLERS)('a reference of the tool stays one beside a caller of %i bytes', async (bytes) => {
  const objects = createObjects();
  const called = { ...record, caller: 'c'.repeat(bytes) };
  const error = { content: [{ type: 'text', text: 'é'.repeat(3_000) }], isError: true };
  const task = { results: 'b', owner: 'o', taskId: 't', round: 1, attempt: 0 } as unknown as TaskContext;
  const text = JSON.stringify(await storeIfLarge(error, task, () => ({ put: async () => {} })));
  expect((await withOutcomeApart(called, ended(text, true), to(objects))).set.result).toBe(text);
  expect(objects.did).toEqual([]);
});

test('two ends of one round lie in two places, so the one that lost overwrites nothing', async () => {
  const objects = createObjects();
  for (const letter of ['a', 'b', 'a']) {
    await withOutcomeApart(record, ended(letter.repeat(inline + 1)), to(objects));
  }
  expect(objects.objects.size).toBe(2);
});

test('a result that cannot be stored ends nothing', async () => {
  const objects = createObjects();
  objects.state.down = 'SlowDown';
  await expect(withOutcomeApart(record, ended('x'.repeat(inline + 1)), to(objects))).rejects.toThrow('SlowDown');
});

const long = 'x'.repeat(3_000);
test.each<[string, unknown, string]>([
  ['its first text', { content: [{ type: 'image' }, { type: 'text', text: long }], isError: true }, 'x'.repeat(500)],
  ['its structure', { structuredContent: { a: long }, isError: true }, `{"a":"${'x'.repeat(494)}`],
  ['any JSON', { a: long, isError: true }, `{"a":"${'x'.repeat(494)}`],
  [
    'fewer characters if they take more bytes',
    { content: [{ type: 'text', text: '\u0001'.repeat(3_000) }], isError: true },
    '\u0001'.repeat(125),
  ],
])('the reference to an error begins like it: %s (C-29)', async (_what, value, says) => {
  const change = await withOutcomeApart(record, ended(JSON.stringify(value), true), to(createObjects()));
  expect(storedResult(change.set.result ?? '')?.says).toBe(says);
  expect(Buffer.byteLength(change.set.result ?? '')).toBeLessThanOrEqual(inline);
});

describe('questions', () => {
  const form = (message: string) => ({
    method: 'elicitation/create',
    params: { message, requestedSchema: { type: 'object', properties: {} } },
  });
  const askable = create({ owner: 'o', taskId: 't' }, { ...task, accepts: ['elicitation/create'] }, T0);
  const asking = (bytes: number, asked = askable) => {
    const text = JSON.stringify({ inputRequests: { a: form('x'.repeat(bytes)) } });
    return finish(asked, { text, asks: true, isError: false }, '{"n":1}', T0 + 1);
  };

  test('that the record can hold stay, if no answer and no signal has come meanwhile', async () => {
    const objects = createObjects();
    const unchanged = { answerCount: 0, inputRef: null };
    expect(await withOutcomeApart(askable, asking(100), to(objects))).toEqual({ ...asking(100), ...unchanged });
    expect(objects.did).toEqual([]);
  });

  test('that it cannot hold are stored first, with the arguments', async () => {
    const objects = createObjects();
    const change = await withOutcomeApart(askable, asking(inline), to(objects));
    const record = after(askable, change);
    expect([record.status, record.asked, record.arguments]).toEqual(['input_required', undefined, undefined]);
    const { asked } = asking(inline).set;
    expect(await inputStore(objects).whole(record)).toMatchObject({ asked, arguments: '{"n":1}' });
  });

  test('that no client can be asked fail the task, and are stored nowhere (E-32)', async () => {
    const objects = createObjects();
    const change = await withOutcomeApart(record, asking(inline, record), to(objects));
    expect(change).toMatchObject({ from: ['working'], round: 1, set: { status: 'failed', updatedAt: T0 + 1 } });
    expect([change.set.failure, objects.did]).toEqual(['InputNotSupported', []]);
  });
});
