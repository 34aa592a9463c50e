import { describe, expect, test } from 'vitest';
import { limits } from '../../../../functions/tasks/limits.ts';
import { openJournal } from '../../../../functions/tool/journal/journal.ts';
import { memoryJournal } from '../../../../functions/tool/journal/port.ts';
import { event, onStandard } from './support.ts';

const { carried, value } = limits.journal;
const direct = (requestState: unknown = null, inputResponses = {}) =>
  openJournal({ ...event(undefined, requestState), inputResponses }, memoryJournal());
const text = (bytes: number) => 'x'.repeat(bytes);
/** About so many bytes, in texts that are short enough for a variable. */
const texts = (bytes: number) => [text(Math.floor(bytes / 2)), text(Math.floor(bytes / 2))];

describe('a call without a task', () => {
  test('carries its variables, steps and answers to the next call', async () => {
    const journal = direct(null, { a: { action: 'accept', content: {} } });
    journal.setVariable('n', 1);
    await journal.once('step', 'one', () => ({ deep: [1] }));
    await expect(journal.once('step', 'two', () => () => 1)).rejects.toThrow("Step 'two'");
    const state = journal.requestState() as Record<string, object>;
    expect(state).toMatchObject({ variables: { n: 1 }, steps: { one: { deep: [1] } }, answers: { a: {} } });
    expect([Object.keys(state.steps ?? {}), Object.keys(state.misfits ?? {})]).toEqual([['one'], ['two']]);
    const next = direct(state, { b: { action: 'decline' } });
    expect(next.getVariable('n')).toBe(1);
    expect(await next.once('step', 'one', () => 'again')).toEqual({ deep: [1] });
    await expect(next.once('step', 'two', () => 'again')).rejects.toThrow("Step 'two'");
    expect(Object.keys(next.answers)).toEqual(['a', 'b']);
  });

  test('has room for 100 KB in all: variables, steps and answers', async () => {
    const journal = direct();
    await journal.once('step', 'one', () => text(carried / 2));
    const full = /variables, steps and answers of a call without a task may take 100000 bytes together/;
    expect(() => journal.setVariable('v', text(carried / 2))).toThrow(full);
    expect(journal.getVariable('v')).toBeUndefined();
    await expect(journal.once('step', 'two', () => text(carried / 2))).rejects.toThrow(full);
    journal.setVariable('v', text(carried / 4));
    expect(journal.getVariable('v')).toBe(text(carried / 4));
  });

  test('keeps room for a step that is under way', async () => {
    const journal = direct();
    const { promise, resolve } = Promise.withResolvers<string>();
    const step = journal.once('step', 'one', () => promise);
    await new Promise((turn) => setImmediate(turn));
    const rest = carried - JSON.stringify(journal.requestState()).length;
    expect(() => journal.setVariable('v', texts(rest - 100))).toThrow(/does not fit/);
    resolve('1');
    await step;
    journal.setVariable('v', texts(rest - 100));
  });

  test('asks no more where its answers alone are too large', () => {
    const answers = Object.fromEntries(
      [1, 2].map((n) => [`a${n}`, { action: 'accept', content: { t: text(carried / 2) } }]),
    );
    expect(() => direct(null, answers).requestState()).toThrow('What the tool keeps does not fit');
  });
});

describe('the journal of a task', () => {
  const open = (more = {}) => openJournal(event({ ...onStandard, ...more }), memoryJournal());

  test('bounds variables alone, however much its steps take', async () => {
    const journal = open();
    await journal.once('step', 'one', () => text(carried));
    journal.setVariable('v', texts(carried - 1_000));
    const full = "Variable 'w' does not fit: the variables of a task may take 100000 bytes together";
    expect(() => journal.setVariable('w', text(1_000))).toThrow(full);
    expect(journal.requestState()).toEqual({ variables: { v: texts(carried - 1_000) } });
  });

  test('keeps a result of exactly 6 MB, and none of a byte more', async () => {
    const journal = open();
    expect(await journal.once('step', 'fits', () => text(value - 2))).toHaveLength(value - 2);
    const message = `takes ${value + 1} bytes as JSON, and may take ${value} bytes`;
    await expect(journal.once('step', 'large', () => text(value - 1))).rejects.toThrow(message);
  });

  test('names waits and steps apart', async () => {
    const journal = open();
    await journal.once('wait', 'w', () => 1);
    await journal.once('step', 's', () => 1);
    expect(journal.steps()).toEqual(['s']);
    await expect(journal.once('wait', '', () => 1)).rejects.toThrow("Wait ''");
    await expect(journal.once('step', text(200), () => 1)).rejects.toThrow(`Step '${text(64)}':`);
  });

  test('is settled although what is done still waits for its turn', async () => {
    const inOrder = () => new Promise<void>((go) => setTimeout(go, 1));
    const alone = { decide: <T>(lookup: Promise<T>) => lookup, work: <T>(work: () => Promise<T>) => work(), inOrder };
    const journal = openJournal(event(onStandard), memoryJournal(), alone);
    const step = journal.once('step', 'one', () => 1);
    await journal.settled();
    expect(await step).toBe(1);
  });

  test('is settled once nothing is under way, nor what that has begun', async () => {
    const journal = open();
    const { promise, resolve } = Promise.withResolvers<number>();
    const inner = Promise.withResolvers<number>();
    const step = journal.once('step', 'one', async () => {
      void journal.once('step', 'two', () => inner.promise);
      return promise;
    });
    await new Promise((turn) => setImmediate(turn));
    expect(journal.isBusy()).toBe(true);
    let isSettled = false;
    const settled = journal.settled().then(() => {
      isSettled = true;
    });
    resolve(1);
    expect(await step).toBe(1);
    await new Promise((turn) => setImmediate(turn));
    expect(isSettled).toBe(false);
    inner.resolve(2);
    await settled;
    await new Promise((turn) => setImmediate(turn));
    expect(journal.isBusy()).toBe(false);
  });
});
