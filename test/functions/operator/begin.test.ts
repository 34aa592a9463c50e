import { expect, test } from 'vitest';
import { begin } from '../../../functions/operator/acts/begin.ts';
import type { OperatorContext } from '../../../functions/operator/context.ts';
import { limits } from '../../../functions/tasks/limits.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';

const task = { tool: 't', ttl: 3_600_000, timeout: 60_000, accepts: [], legacy: false };

/** A rerun whose put takes this long, as that of a process that is suspended. */
async function rerunAfter(ms: number) {
  const did: string[] = [];
  const made = create({ owner: 'o', taskId: 'new' }, task, 1_000);
  let now = 1_000;
  const context = {
    now: () => now,
    server: { tools: new Map() },
    machineOf: () => ({ id: 'machine', express: false }),
    log: () => {},
    inputs: {},
    reads: { get: async () => made },
    store: {
      async create() {
        now += ms;
        return true;
      },
      applyBlind: async () => did.push('fail') > 0,
    },
    workflow: { start: async () => void did.push('start') },
  } as unknown as OperatorContext;
  return { did, began: await begin(made, '{}', context) };
}

test('a rerun whose process was suspended starts nothing: the sweep may fail its task (row 4)', async () => {
  const { did, began } = await rerunAfter(limits.startWithin + 1);
  expect(did).toEqual([]);
  expect(began).toEqual({ done: false, message: expect.stringContaining('the start came more than 35 s late') });
});

test('a rerun within that time starts its run', async () => {
  const { did, began } = await rerunAfter(limits.startWithin);
  expect(did).toEqual(['start']);
  expect(began).toMatchObject({ done: true, newTaskId: 'new' });
});
