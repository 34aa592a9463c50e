import { expect, test } from 'vitest';
import { begin } from '../../../../functions/operator/acts/begin.ts';
import type { OperatorContext } from '../../../../functions/operator/context.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import { operatorReads } from '../../../../functions/tasks/table/operator-reads.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { memoryEngine, TABLE } from '../../../support/engine/memory.ts';

const task = { tool: 't', ttl: 3_600_000, timeout: 60_000, accepts: [], legacy: false };

/** A rerun whose put takes this long, as that of a process that is suspended. */
async function rerunAfter(ms: number) {
  const clock = { now: 1_000 };
  const { store, workflow, inputs, did, dynamoDb } = memoryEngine(() => clock.now);
  const made = create({ owner: 'o', taskId: 'new' }, task, clock.now);
  const slow: typeof store.create = (record) => {
    clock.now += ms;
    return store.create(record);
  };
  const context = {
    now: () => clock.now,
    server: { tools: new Map() },
    toolEngine: () => 'standard',
    log: () => {},
    inputs,
    reads: operatorReads(dynamoDb, TABLE),
    store: { ...store, create: slow },
    workflow,
  } as unknown as OperatorContext;
  return { did, began: await begin(made, '{}', context) };
}

test('a rerun whose process was suspended starts nothing: the sweep may fail its task (row 4)', async () => {
  const { did, began } = await rerunAfter(limits.startWithin + 1);
  expect(did).toEqual(['create']);
  expect(began).toEqual({ done: false, message: expect.stringContaining('the start came more than 35 s late') });
});

test('a rerun within that time starts its run', async () => {
  const { did, began } = await rerunAfter(limits.startWithin);
  expect(did.slice(0, 2)).toEqual(['create', 'start']);
  expect(began).toMatchObject({ done: true, newTaskId: 'new' });
});
