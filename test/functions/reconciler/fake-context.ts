import type { SweepContext } from '../../../functions/reconciler/sweep.ts';
import type { Engine } from '../../../functions/tasks/engines.ts';
import { limits } from '../../../functions/tasks/limits.ts';
import { logEvent } from '../../../functions/tasks/log.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { dueIndex } from '../../../functions/tasks/table/due-index.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';
import { MACHINES } from '../../support/engine/executions.ts';
import { memoryEngine, TABLE } from '../../support/engine/memory.ts';

export const T0 = 1_700_000_000_000;
export const MINUTE = 60_000;
export const GRACE = 30_000;
export const key = { owner: 'o', taskId: 't' };
/** A task made at T0 that has not ended by then has failed. */
export const END = T0 + 10 * MINUTE + GRACE;

/** A task of ten minutes, made at T0. */
export const record = (over: Partial<TaskRecord> = {}): TaskRecord => ({
  ...create(
    key,
    {
      tool: 'x',
      ttl: 60 * MINUTE,
      timeout: 10 * MINUTE,
      accepts: ['elicitation/create', 'elicitation/create:url', 'sampling/createMessage', 'roots/list'],
      legacy: false,
    },
    T0,
  ),
  ...over,
});
const question = { method: 'elicitation/create', params: { mode: 'url', message: '?', url: 'https://example.com' } };
const asked = JSON.stringify({ inputRequests: { a: question } });
export const waiting = (over: Partial<TaskRecord> = {}): TaskRecord =>
  record({ status: 'input_required', asked, arguments: '{"n":1}', dueAt: END, ...over });
/** Answered at T0; its second round is to be started. */
export const answered = (over: Partial<TaskRecord> = {}): TaskRecord =>
  record({ round: 2, asked, arguments: '{"n":1}', inputResponses: { 'r1.a': '{"action":"accept"}' }, ...over });

/** What runs the tools of a server, by their names. */
export const engines =
  (byTool: Readonly<Record<string, Engine>>): SweepContext['toolEngine'] =>
  (tool) =>
    byTool[tool];

/** What the reconciler gets, on the engine's ports in memory, with these tasks a minute after T0. */
export function fakeContext(tasks: readonly TaskRecord[] = [], over: Partial<SweepContext> = {}) {
  const clock = { now: T0 + MINUTE };
  const { store, workflow, describe, inputs, ...engine } = memoryEngine(() => clock.now);
  for (const task of tasks) engine.records.set(task);
  const context: SweepContext = {
    store,
    workflow,
    describe,
    inputs,
    results: engine.objects,
    oldestOpen: async () => undefined,
    probe: async () => {},
    checksPerSecond: limits.sweepChecks,
    repeatable: new Set(['x']),
    index: dueIndex(engine.dynamoDb, TABLE, 1_000),
    toolEngine: engines({ x: 'standard' }),
    log: logEvent,
    stateMachines: new Map(),
    machineArnPrefix: MACHINES,
    now: () => clock.now,
    async sleep(ms) {
      clock.now += ms;
    },
    ...over,
  };
  return { ...engine, context, clock };
}
