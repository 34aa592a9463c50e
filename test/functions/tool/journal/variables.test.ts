import { describe, expect, test } from 'vitest';
import { limits } from '../../../../functions/tasks/limits.ts';
import { openJournal } from '../../../../functions/tool/journal/journal.ts';
import { memoryJournal } from '../../../../functions/tool/journal/port.ts';
import { openVariables } from '../../../../functions/tool/journal/variables.ts';
import { event, onExpress, onStandard, sharedTable, toolOf } from './support.ts';

const again = { ...onStandard, attempt: 1 };

describe('variables lie in the entry of the next step', () => {
  test('each once, with its place among the others of the round', async () => {
    const table = sharedTable();
    const tool = toolOf(async (task) => {
      task.setVariable('a', 1);
      task.setVariable('b', 1);
      await task.step('one', () => 1);
      await task.step('two', () => 2);
      task.setVariable('a', 2);
      await task.step('three', () => 3);
    });
    await tool.runWith(event(onStandard), table.context);
    expect(table.stored).toEqual({
      one: { kind: 'step', name: 'one', value: '1', variables: '{"a":1,"b":1}', round: 1, order: 1 },
      two: { kind: 'step', name: 'two', value: '2' },
      three: { kind: 'step', name: 'three', value: '3', variables: '{"a":2}', round: 1, order: 2 },
    });
  });

  test('not in the entry of a wait: each visit of its URL reads that one', async () => {
    const port = memoryJournal();
    const journal = openJournal(event(onStandard), port);
    journal.setVariable('draft', 'x'.repeat(50_000));
    await journal.once('wait', 'approval', () => ({ kind: 'link' }));
    expect(await port.entry(onStandard, { kind: 'wait', name: 'approval' })).not.toHaveProperty('variables');
    await journal.once('step', 'mail', () => 1);
    const { variables } = (await port.entry(onStandard, { kind: 'step', name: 'mail' })) ?? {};
    expect(variables).toContain('"draft":"xxx');
    expect(journal.requestState()).toMatchObject({ variables: { draft: expect.any(String) } });
  });

  test('and count to what its task may store', async () => {
    const port = memoryJournal();
    const full = { kind: 'step', name: 'large', sha256: 'a'.repeat(64), bytes: limits.journal.bytes - 3_000 } as const;
    await port.write(onStandard, { ...full, variables: JSON.stringify({ n: 'x'.repeat(2_900) }), round: 1, order: 1 });
    const journal = openJournal(event(again), port);
    await expect(journal.once('step', 'next', () => 1)).rejects.toThrow("Step 'next' does not fit");
  });

  test('and come back in the order in which they were set, whatever the names of the steps', async () => {
    const table = sharedTable();
    const lost = toolOf(async (task) => {
      for (const [n, name] of ['z', 'm', 'a'].entries()) {
        task.setVariable('n', n);
        await task.step(name, () => 1);
      }
      throw new Error('lost');
    });
    await expect(lost.runWith(event(onStandard), table.context)).rejects.toThrow('lost');
    const next = toolOf((task) => ({ n: task.getVariable('n') }));
    const sorted = sharedTable({
      read: async (task) => {
        const { entries } = await table.memory.read(task);
        return { entries: entries.toSorted((a, b) => (a.name < b.name ? -1 : 1)) };
      },
    });
    expect(await next.runWith(event(again), sorted.context)).toEqual({ n: 2 });
  });

  test('of this round only: variables of earlier rounds have come with the answers', async () => {
    const port = memoryJournal();
    const entry = { kind: 'step', value: '1', variables: '{"n":"entry"}', order: 9 } as const;
    await port.write(onStandard, { ...entry, name: 'one', round: 1 });
    const journal = openJournal(event({ ...again, round: 2 }, { variables: { n: 'carried' } }), port);
    await journal.read();
    expect(journal.getVariable('n')).toBe('carried');
    await port.write(onStandard, { ...entry, name: 'two', round: 2 });
    const later = openJournal(event({ ...again, round: 2 }, { variables: { n: 'carried' } }), port);
    await later.read();
    expect(later.getVariable('n')).toBe('entry');
  });

  test('the next one, if another run was first, or if the write failed', async () => {
    const table = sharedTable();
    const write = table.context.journal.write;
    let fails = true;
    const context = {
      ...table.context,
      journal: {
        ...table.context.journal,
        write: (...given: Parameters<typeof write>) => {
          if (!fails) return write(...given);
          fails = false;
          return Promise.reject(new Error('throttled'));
        },
      },
    };
    const tool = toolOf(async (task) => {
      task.setVariable('n', 1);
      await expect(task.step('one', () => 1)).rejects.toThrow('throttled');
      await table.memory.write(onStandard, { kind: 'step', name: 'two', value: '"of another"' });
      expect(await task.step('two', () => 2)).toBe('of another');
      await task.step('three', () => 3);
    });
    await tool.runWith(event(onExpress()), context);
    expect(Object.keys(table.stored)).toEqual(['three']);
    expect(table.stored.three).toMatchObject({ variables: '{"n":1}' });
  });
});

describe('what another run has stored', () => {
  test('is not set over what this run has set', () => {
    const variables = openVariables({ kept: 0, mine: 0 }, 1);
    variables.set('mine', 1);
    variables.add([{ variables: '{"kept":2,"mine":2,"new":2}', round: 1, order: 5 }]);
    expect(variables.all()).toEqual({ kept: 2, mine: 1, new: 2 });
    // Comes after what was read.
    expect(variables.changes()).toEqual({ variables: '{"mine":1}', round: 1, order: 6 });
    expect(variables.changes()).toEqual({});
  });

  test('counts by its place, in whatever order it is read', () => {
    const variables = openVariables({}, 1);
    variables.add([{ variables: '{"n":6}', round: 1, order: 6 }]);
    variables.add([{ variables: '{"n":5,"m":5}', round: 1, order: 5 }]);
    expect(variables.all()).toEqual({ n: 6, m: 5 });
  });

  test.each(['{', '[1]', '"text"', 'null'])('is left out if it is %s', (text) => {
    const variables = openVariables({ a: 1 }, 1);
    variables.add([{ variables: text, round: 1, order: 1 }]);
    expect(variables.all()).toEqual({ a: 1 });
  });

  test('keeps names that objects inherit apart', () => {
    const variables = openVariables(JSON.parse('{"__proto__":1}'), 1);
    expect(variables.get('__proto__')).toBe(1);
    expect(variables.get('constructor')).toBeUndefined();
    variables.set('__proto__', 2);
    expect(JSON.stringify(variables.all())).toBe('{"__proto__":2}');
    expect(variables.changes().variables).toBe('{"__proto__":2}');
  });
});
