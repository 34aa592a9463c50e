import { describe, expect, test } from 'vitest';
import type { Task } from '../../../../functions/tool/index.ts';
import type { Amount } from '../../../../functions/tool/run-context.ts';
import { event, onExpress, onStandard, sharedTable, toolOf } from './support.ts';

const again = { ...onStandard, attempt: 1 };
/** The reports of a second run, after one that has reported 3 of 10. */
async function reported(run: (task: Task) => Promise<unknown>, before: Amount = { progress: 3, total: 10 }) {
  const table = sharedTable();
  const first = toolOf((task) => task.progress('first', before));
  await first.runWith(event(onStandard), table.context);
  await toolOf(run).runWith(event(again), table.context);
  return table.reports.slice(1).map(({ message, ...amount }) => amount);
}

describe('a run that reports again from the top', () => {
  test('shows nothing until it has caught up, then everything, and less as well', async () => {
    const shown = await reported(async (task) => {
      for (const progress of [0, 1, 2, 3, 4, 1]) await task.progress('again', { progress, total: 10 });
    });
    expect(shown).toEqual([3, 4, 1].map((progress) => ({ progress, total: 10 })));
  });

  test('shows an amount of another total at once', async () => {
    const shown = await reported(async (task) => {
      await task.progress('again', { progress: 1, total: 20 });
      await task.progress('again', { progress: 0, total: 10 });
    });
    expect(shown).toEqual([
      { progress: 1, total: 20 },
      { progress: 0, total: 10 },
    ]);
  });

  test('shows a message without an amount beside the last amount', async () => {
    expect(await reported((task) => task.progress('again'))).toEqual([{ progress: 3, total: 10 }]);
  });

  test('knows an amount without a total', async () => {
    const shown = await reported(
      async (task) => {
        for (const progress of [0, 5]) await task.progress('again', { progress });
      },
      { progress: 4 },
    );
    expect(shown).toEqual([{ progress: 5 }]);
  });

  test('shows all if the last amount cannot be read', async () => {
    let reads = 0;
    const table = sharedTable({ read: () => Promise.reject(new Error(`throttled ${++reads}`)) });
    const tool = toolOf(async (task) => {
      for (const progress of [0, 1, 2]) await task.progress('again', { progress, total: 10 });
    });
    await tool.runWith(event(onExpress()), table.context);
    expect([table.reports.length, reads]).toEqual([3, 1]);
  });
});

test('a first run reads nothing for its reports', async () => {
  const table = sharedTable();
  await toolOf((task) => task.progress('first', { progress: 0, total: 1 })).runWith(event(onStandard), table.context);
  expect(table.calls).toEqual([]);
});
