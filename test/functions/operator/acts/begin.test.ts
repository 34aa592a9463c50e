import { expect, test } from 'vitest';
import { begin } from '../../../../functions/operator/acts/begin.ts';
import type { OperatorContext } from '../../../../functions/operator/context.ts';
import type { Engine } from '../../../../functions/tasks/engines.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import { ResultStoreError } from '../../../../functions/tasks/results/result-store.ts';
import { operatorReads } from '../../../../functions/tasks/table/operator-reads.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { memoryEngine, TABLE } from '../../../support/engine/memory.ts';

const task = { tool: 't', ttl: 3_600_000, timeout: 60_000, accepts: [], legacy: false };

/** A rerun whose workflow cannot be started, nor its record changed after that. */
async function rerunWithoutStart() {
  const { store, workflow, inputs, dynamoDb } = memoryEngine(() => 1_000);
  const made = create({ owner: 'o', taskId: 'new' }, { ...task, engine: 'standard' }, 1_000);
  const down = () => Promise.reject(new TypeError('down'));
  const context = {
    ...{ now: () => 1_000, server: { tools: new Map() }, toolEngine: () => 'standard', log: () => {}, inputs },
    ...{ reads: operatorReads(dynamoDb, TABLE), store: { ...store, applyBlind: down } },
    workflow: { ...workflow, start: down },
  } as unknown as OperatorContext;
  return begin(made, '{}', context);
}

/** A rerun whose arguments lie in S3, which answers with this error. */
async function rerunWithoutRoom(error: Error) {
  const { store, workflow, inputs, dynamoDb } = memoryEngine(() => 1_000);
  const made = create(
    { owner: 'o', taskId: 'new' },
    { ...task, accepts: ['elicitation/create'], engine: 'standard' },
    1_000,
  );
  const context = {
    ...{ now: () => 1_000, server: { tools: new Map() }, toolEngine: () => 'standard', log: () => {}, store, workflow },
    ...{ reads: operatorReads(dynamoDb, TABLE), inputs: { ...inputs, put: () => Promise.reject(error) } },
  } as unknown as OperatorContext;
  return begin(made, JSON.stringify('x'.repeat(limits.inlineInput)), context);
}

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

test('a rerun whose failed start cannot be noted says when the new task ends', async () => {
  expect(await rerunWithoutStart()).toEqual({
    done: false,
    message: `Not run again: the new task new could not be started (TypeError). It ends within 2 minutes, and its run, if it began, is stopped. ${SEE}`,
  });
});

test('a rerun that may not store arguments in S3 names the policy, and throws any other failure', async () => {
  await expect(rerunWithoutRoom(new ResultStoreError('stored', 'AccessDenied'))).rejects.toThrow(
    'Not run again: your credentials may not create a task. The payload policy of the server allows it',
  );
  await expect(rerunWithoutRoom(new ResultStoreError('stored', 'SlowDown'))).rejects.toThrow(ResultStoreError);
});
