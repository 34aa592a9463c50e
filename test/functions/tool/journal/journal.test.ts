import { describe, expect, test } from 'vitest';
import type { Entry } from '../../../../functions/tasks/table/journal-items.ts';
import { StepInterrupted, ToolError } from '../../../../functions/tool/index.ts';
import { openJournal } from '../../../../functions/tool/journal/journal.ts';
import { memoryJournal } from '../../../../functions/tool/journal/port.ts';
import { bounds, event, onExpress, onStandard, sharedTable, toolOf } from './support.ts';

const again = { ...onStandard, attempt: 1 };
const named = (name: string) => expect.objectContaining({ name });
/** A run of a task with these entries. */
const runWith = (entries: readonly Entry[], task = again) =>
  openJournal(event(task), { ...memoryJournal(), read: async () => ({ entries }) });
const large = (name: string, bytes: number): Entry => ({ kind: 'step', name, bytes, sha256: '' });

describe('a value is made once', () => {
  test('by the first run that stores it, whatever its kind; the next one gets it as JSON keeps it', async () => {
    const port = memoryJournal();
    const value = { at: new Date(0), 'naïve 🔑': undefined };
    const first = openJournal(event(onExpress('a')), port);
    const second = openJournal(event(onExpress('b')), port);
    const kept = { at: '1970-01-01T00:00:00.000Z' };
    expect(await first.once('wait', 'x', () => value)).toEqual(kept);
    expect(await second.once('wait', 'x', () => 'another')).toEqual(kept);
    expect(await second.once('step', 'x', () => 'of another kind')).toBe('of another kind');
  });

  test('and returned again in the same run', async () => {
    const journal = openJournal(event(onStandard), memoryJournal());
    expect(await journal.once('wait', 'x', () => 1)).toBe(1);
    expect(await journal.once('wait', 'x', () => 2)).toBe(1);
  });

  test('not stored if it throws', async () => {
    const table = sharedTable();
    const journal = openJournal(event(onStandard), table.context.journal);
    const fails = () => Promise.reject(new Error('no'));
    await expect(journal.once('step', 'x', fails)).rejects.toThrow('no');
    expect(table.calls).toEqual([]);
    expect(await journal.once('step', 'x', () => 1)).toBe(1);
  });
});

describe('a name', () => {
  test.each([
    ['none', ''],
    ['65 characters', 'x'.repeat(65)],
    ['half a character', 'x\ud83d'],
    ['no text', 7 as unknown as string],
  ])('of %s is refused by name, before the work', async (_what, name) => {
    let done = 0;
    const tool = toolOf((task) => task.step(name, () => ++done));
    const result = await tool.runWith(event(onStandard), sharedTable().context);
    const text = `Step '${String(name).slice(0, 64)}': a name has 1 to 64 characters`;
    expect(result).toEqual({ isError: true, content: [{ type: 'text', text }] });
    expect(done).toBe(0);
  });

  test.each(['🔑'.repeat(64), '__proto__', 'constructor', 'a#step#b', '\n', 'ﬁ'])('may be %s', async (name) => {
    const table = sharedTable();
    const tool = (value: string) => toolOf(async (task) => ({ value: await task.step(name, () => value) }));
    expect(await tool('one').runWith(event(onExpress('a')), table.context)).toEqual({ value: 'one' });
    expect(await tool('two').runWith(event(onExpress('b')), table.context)).toEqual({ value: 'one' });
  });
});

describe('what has no room is refused by its limit, before the work:', () => {
  test.each([
    [
      'the last entry, of 10,000',
      Array.from({ length: bounds.entries - 1 }, (_, i) => large(`${i}`, 1)),
      /10000 steps/,
    ],
    ['the last bytes, of 100 MB', [large('all', bounds.bytes - 500)], /the steps of a task may take 100000000 bytes/],
  ])('beyond %s', async (_what, entries, message) => {
    const journal = runWith(entries);
    let done = 0;
    const step = (name: string) => journal.once('step', name, () => ++done);
    const results = await Promise.allSettled([step('fits'), step('does not')]);
    expect(results).toMatchObject([
      { value: 1 },
      { reason: { name: 'ToolError', message: expect.stringMatching(message) } },
    ]);
    expect(done).toBe(1);
  });
});

describe('a result that does not fit is lost, and its work is not done again:', () => {
  const seven = 'x'.repeat(7_000);
  test.each([
    [
      'of more than 6 MB',
      [],
      'x'.repeat(6_000_000),
      /^Step 's' takes 6000002 bytes as JSON, and may take 6000000 bytes$/,
    ],
    ['beyond 100 MB in all', [large('all', bounds.bytes - 6_000)], seven, /100000000 bytes together$/],
    ['that is no JSON', [], { f: () => 1 }, /is not JSON$/],
  ] as const)('%s', async (_what, entries, value, message) => {
    const port = { ...memoryJournal() };
    const read = port.read;
    port.read = async (task) => ({ entries: [...entries, ...(await read(task)).entries] });
    let done = 0;
    const make = () => {
      done++;
      return value;
    };
    for (const run of ['a', 'b']) {
      const journal = openJournal(event(onExpress(run)), port);
      const lost = expect.objectContaining({ name: 'ToolError', message: expect.stringMatching(message) });
      await expect(journal.once('step', 's', make)).rejects.toEqual(lost);
    }
    expect(done).toBe(1);
  });

  test('values that are stored at the same time fit together', async () => {
    const journal = runWith([large('all', bounds.bytes - 10_000)]);
    const step = (name: string) => journal.once('step', name, () => seven);
    const results = await Promise.allSettled([step('a'), step('b')]);
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });
});

describe('at most once:', () => {
  /** Two runs of a step, of which the first dies in its work. */
  async function interrupted() {
    const table = sharedTable();
    const done: string[] = [];
    const dies = new Promise<never>(() => {});
    const begun = Promise.withResolvers<void>();
    const lost = openJournal(event(onExpress('lost')), table.context.journal);
    const work = async () => {
      done.push('lost');
      begun.resolve();
      return dies;
    };
    void lost.once('step', 'pay', work, true);
    await begun.promise;
    const next = (run: string) => {
      const journal = openJournal(event(onExpress(run)), table.context.journal);
      return () => journal.once('step', 'pay', () => done.push(run), true);
    };
    return { table, done, next };
  }

  test('a run that finds it begun without a result throws StepInterrupted, as does each later one', async () => {
    const { done, next } = await interrupted();
    const pay = next('again');
    const thrown = await pay().catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(StepInterrupted);
    expect(thrown).toMatchObject({ message: expect.stringContaining("'pay'") });
    await expect(pay()).rejects.toEqual(thrown);
    await expect(next('last')()).rejects.toEqual(thrown);
    expect(done).toEqual(['lost']);
  });

  test('if the first run ends its work after all, both throw', async () => {
    const table = sharedTable();
    const slow = openJournal(event(onExpress('slow')), table.context.journal);
    const other = openJournal(event(onExpress('other')), table.context.journal);
    const pay = slow.once(
      'step',
      'pay',
      async () => {
        await expect(other.once('step', 'pay', () => 'other', true)).rejects.toThrow(StepInterrupted);
        return 'slow';
      },
      true,
    );
    await expect(pay).rejects.toThrow(StepInterrupted);
  });

  test('a result that is stored while another run finds it missing counts in both', async () => {
    const table = sharedTable();
    const slow = openJournal(event(onExpress('slow')), table.context.journal);
    const ends = Promise.withResolvers<string>();
    const pay = slow.once('step', 'pay', () => ends.promise, true);
    await Promise.resolve();
    const found = await table.memory.read(onStandard);
    const port = {
      ...table.context.journal,
      async read() {
        ends.resolve('slow');
        await pay;
        return found;
      },
    };
    const other = openJournal(event(onExpress('other')), port);
    expect(await other.once('step', 'pay', () => 'other', true)).toBe('slow');
  });

  test('work that throws is not begun again in the same run', async () => {
    let begun = 0;
    const tool = toolOf(async (task) => {
      const pay = () => task.step('pay', () => Promise.reject(new Error(`no ${++begun}`)), { atMostOnce: true });
      return { first: await pay().catch(String), second: await pay().catch(String) };
    });
    const { first, second } = (await tool.runWith(event(onStandard), sharedTable().context)) as Record<string, string>;
    expect(first).toBe('Error: no 1');
    expect(second).toMatch(/^StepInterrupted/);
  });

  test('the step costs one more write; a step of a later run costs none', async () => {
    const table = sharedTable();
    const pays = toolOf(async (task) => ({ paid: await task.step('pay', () => 1, { atMostOnce: true }) }));
    await pays.runWith(event(onStandard), table.context);
    expect(table.calls).toEqual(['write pay', 'write pay']);
    expect(table.stored.pay).toEqual({ kind: 'step', name: 'pay', value: '1' });
    expect(await pays.runWith(event(again), table.context)).toEqual({ paid: 1 });
    expect(table.calls).toEqual(['write pay', 'write pay', 'read']);
  });

  test('a write whose answer was lost begins the work all the same', async () => {
    const memory = memoryJournal();
    const port = {
      ...memory,
      // The AWS client repeats this write. Its condition is false then, as the first one was made.
      write: async (...given: Parameters<typeof memory.write>) => void (await memory.write(...given)),
    };
    const journal = openJournal(event(onStandard), port as unknown as typeof memory);
    expect(await journal.once('step', 'pay', () => 'paid', true)).toBe('paid');
  });

  test('a run that may not read begins nothing that another may have begun', async () => {
    const unread = { ...memoryJournal(), write: async () => undefined, entry: async () => undefined };
    const journal = openJournal(event(onStandard), unread);
    await expect(journal.once('step', 'pay', () => expect.unreachable(), true)).rejects.toThrow(StepInterrupted);
    expect(await journal.once('step', 'other', () => 'mine')).toBe('mine');
  });

  test('in a direct call it does nothing', async () => {
    const journal = openJournal(event(undefined), memoryJournal());
    await expect(journal.once('step', 'pay', () => Promise.reject(new Error('no')), true)).rejects.toThrow('no');
    expect(await journal.once('step', 'pay', () => 1, true)).toBe(1);
  });
});

test.each([
  ['holds nothing', {}],
  ['holds no JSON', { value: '{' }],
])('an entry that %s, which another tool may have written, is an error by name', async (_what, more) => {
  const journal = runWith([{ kind: 'step', name: 's', ...more }]);
  await expect(journal.once('step', 's', () => 1)).rejects.toEqual(named('StepLost'));
});

test('the refusal of a step is a ToolError, which its tool may catch', async () => {
  const journal = openJournal(event(onStandard), memoryJournal());
  await expect(journal.once('step', '', () => 1)).rejects.toBeInstanceOf(ToolError);
});
