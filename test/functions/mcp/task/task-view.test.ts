import { expect, test, vi } from 'vitest';
import type { ServerContext, Tool } from '../../../../functions/mcp/context.ts';
import { currentRecord } from '../../../../functions/mcp/task/task-view.ts';
import { create } from '../../../../functions/tasks/transitions.ts';
import { fakeServer } from '../support/fake-server.ts';

/** A server with one tool, whose outputSchema wants `n`. */
function deployed(outputSchemaId: string | undefined): ServerContext {
  const { server } = fakeServer();
  const { entry, validate } = server.tools.get('optional') as Tool;
  const tool: Tool = {
    entry: { ...entry, ...(outputSchemaId !== undefined && { outputSchemaId }) },
    validate,
    validateOutput: (value: unknown) => typeof value === 'object' && value !== null && 'n' in value,
  };
  return { ...server, tools: new Map([['optional', tool]]) };
}

const task = { tool: 'optional', ttl: 60_000, timeout: 60_000, accepts: [], legacy: false };
const done = (outputSchemaId: string) => ({
  ...create({ owner: 'o', taskId: 't' }, { ...task, outputSchemaId }, 1_700_000_000_000),
  status: 'completed' as const,
  result: '{"structuredContent":{"m":1}}',
});

test('a result has to fit the outputSchema that its tool had when the task was made (A-19)', () => {
  expect(currentRecord(done('v1'), 0, deployed('v1'))).toMatchObject({ isError: true });
});

test('where a result does not fit is logged once, by path and rule, without a value (A-15)', () => {
  const warned = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const errors = [
    { instancePath: '/secret', message: 'must be number' },
    { instancePath: '', message: 'must have n' },
  ];
  const server = deployed('v1');
  const tool = server.tools.get('optional') as Tool;
  Object.assign(tool.validateOutput as object, { errors });
  for (let read = 0; read < 2; read++) currentRecord(done('v1'), 0, server);
  const lines = warned.mock.calls.map(([line]) => JSON.parse(String(line)));
  warned.mockRestore();
  expect(lines).toEqual([
    { event: 'result_misfit', tool: 'optional', problems: ['/secret must be number', '/ must have n'] },
  ]);
});

test('a deployment with another outputSchema changes no finished task for readers (C-10)', () => {
  expect(currentRecord(done('v1'), 0, deployed('v2'))).toEqual(done('v1'));
  expect(currentRecord(done('v1'), 0, deployed(undefined))).toEqual(done('v1'));
});

test.each([
  ['{"n":1}', true, 'completed', false],
  ['{"content":[],"isError":true}', false, 'completed', true],
  ['{"x": NaN}', false, 'completed', true],
  ['', true, 'completed', true],
])('the text %j of an envelope that said isError %s decides', (result, said, status, isError) => {
  const { outputSchemaId: _, ...made } = done('v1');
  const shown = currentRecord({ ...made, result, isError: said }, 0, deployed(undefined));
  expect(shown).toMatchObject({ status, isError });
});
