import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { OperatorContext, ToolFacts } from '../../../../functions/operator/context.ts';
import { misfitOf } from '../../../../functions/operator/explain/misfit.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { MACHINES } from '../../../support/engine/executions.ts';

// In a turn of the event loop that has checked nothing yet.
beforeEach(() => setImmediate());
afterEach(() => void vi.restoreAllMocks());

const task = { tool: 'slug', ttl: 60_000, timeout: 60_000, accepts: [], legacy: false, outputSchemaId: 's' };
const noRun = Object.assign(new Error('no run'), { name: 'ExecutionDoesNotExist' });
const context = {
  server: { tools: new Map(), machineArnPrefix: MACHINES },
  inputs: { whole: async (record: TaskRecord) => record },
  states: { send: () => Promise.reject(noRun) },
};

function problems(schema: object, result: object) {
  const record = { ...create({ owner: 'o', taskId: 't' }, task, 0), status: 'completed' as const };
  const tool = { outputSchema: schema, outputSchemaId: 's' } as unknown as ToolFacts;
  return misfitOf({ ...record, result: JSON.stringify(result) }, tool, context as unknown as OperatorContext);
}

test('a result whose check takes years is a misfit, as clients see it, and stops nothing (A-19)', async () => {
  vi.spyOn(console, 'error').mockReturnValue(undefined);
  const schema = { type: 'object', properties: { slug: { type: 'string', pattern: '^([a-z0-9]+-?)+$' } } };
  const slow = await problems(schema, { slug: `${'a'.repeat(31)}!` });
  expect(slow).toEqual(['/ take too long to check: make texts and lists shorter']);
});

test('the place of a problem is short, however long the name is that a client has chosen', async () => {
  const schema = { type: 'object', additionalProperties: { type: 'integer' } };
  expect(await problems(schema, { ['n'.repeat(100_000)]: 'x' })).toEqual([`/${'n'.repeat(199)} must be integer`]);
});
