import { expect, test } from 'vitest';
import { begin } from '../../../../functions/operator/acts/begin.ts';
import type { OperatorContext } from '../../../../functions/operator/context.ts';
import type { Engine } from '../../../../functions/tasks/engines.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import { operatorReads } from '../../../../functions/tasks/table/operator-reads.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { memoryEngine, TABLE } from '../../../support/engine/memory.ts';

const task = { tool: 't', ttl: 3_600_000, timeout: 60_000, accepts: [], legacy: false };

/** A rerun whose put takes this long, as in a process that is suspended. */
async function rerunAfter(ms: number, engine: Engine = 'standard') {
  const clock = { now: 1_000 };
  const { store, workflow, inputs, did, dynamoDb } = memoryEngine(() => clock.now);
  const made = create({ owner: 'o', taskId: 'new' }, { ...task, engine }, clock.now);
  const slow: typeof store.create = (record) => {
    clock.now += ms;
    return store.create(record);
  };
  const context = {
    now: () => clock.now,
    server: { tools: new Map() },
    toolEngine: () => engine,
    log: () => {},
    inputs,
    reads: operatorReads(dynamoDb, TABLE),
    store: { ...store, create: slow },
    workflow,
  } as unknown as OperatorContext;
  return { did, began: await begin(made, '{}', context) };
}

const LATE = 'Not run again: the new task new could not be started (the start came more than 35 s late).';
const SEE = 'See what it did: mcp-task-server tasks show new';

test.each([
  ['standard', `${LATE} It ends within 2 minutes, and its run, if it began, is stopped. ${SEE}`],
  ['express', `${LATE} The sweep starts it within 8 minutes, and its run, if it began, can change nothing. ${SEE}`],
] as const)(
  'a rerun on %s whose process was suspended starts nothing: the sweep decides (row 4)',
  async (engine, message) => {
    const { did, began } = await rerunAfter(limits.startWithin + 1, engine);
    expect(did).toEqual(['create']);
    expect(began).toEqual({ done: false, message });
  },
);

test('a rerun within that time starts its run', async () => {
  const { did, began } = await rerunAfter(limits.startWithin);
  expect(did.slice(0, 2)).toEqual(['create', 'start']);
  expect(began).toMatchObject({ done: true, newTaskId: 'new' });
});
