import { setImmediate } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { createHandler } from '../../../functions/mcp/index.ts';
import { isRepeatable, type ToolEntry } from '../../../functions/mcp/manifest.ts';
import { functionOf, wiredTools } from '../../../functions/mcp/wiring.ts';
import { manifest } from './support/fake-server.ts';

const valid = () => true;
const direct: ToolEntry = {
  name: 'direct',
  description: 'd',
  inputSchema: { type: 'object' },
  taskSupport: 'forbidden',
  timeout: 1_000,
  function: 1,
};
const { function: _, ...withoutFunction } = direct;
const long: ToolEntry = { ...withoutFunction, name: 'long', taskSupport: 'optional', engine: 'standard' };
const { engine: __, ...withoutEngine } = long;

const wired = (tool: ToolEntry, inputs = [valid], outputs: (typeof valid | undefined)[] = []) =>
  wiredTools({ ...manifest, tools: [tool] }, { inputs, outputs }, ['first', 'second'], ['machine']);

test('tools that fit the environment are found by name', () => {
  expect(wired(direct).get('direct')).toMatchObject({ entry: direct, validateOutput: undefined });
  expect(
    wired({ ...long, outputSchema: {}, stateMachine: 0 }, [valid], [valid])
      .get('long')
      ?.validateOutput?.(1),
  ).toBe(true);
  expect(functionOf(direct, ['first', 'second'])).toBe('second');
});

test.each<[string, () => unknown, string]>([
  ['validator', () => wired(direct, []), "Tool 'direct' has no validator of arguments"],
  ['output validator', () => wired({ ...direct, outputSchema: {} }), "Tool 'direct' has no validator of results"],
  ['function', () => wired(withoutFunction), "Tool 'direct' has no function in TOOL_FUNCTIONS"],
  ['listed function', () => wired({ ...direct, function: 2 }), "Tool 'direct' has no function in TOOL_FUNCTIONS"],
  ['engine', () => wired(withoutEngine), "Tool 'long' has no engine in the manifest"],
  ['state machine', () => wired({ ...long, stateMachine: 1 }), "Tool 'long' has no state machine in TOOL_MACHINES"],
])('a tool without a %s is refused by name when the endpoint starts', (_, wire, problem) => {
  expect(wire).toThrow(problem);
});

test('a check that takes too long is logged by its tool and by what was checked', async () => {
  // Each in another turn of the event loop: a turn logs one.
  await setImmediate();
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
  const endless = () => {
    for (;;);
  };
  const tool = wired({ ...direct, outputSchema: {} }, [endless], [endless]).get('direct');
  expect(tool?.validate({})).toBe(false);
  await setImmediate();
  expect(tool?.validateOutput?.({})).toBe(false);
  const what = logged.mock.calls.map(([line]) => JSON.parse(line).what);
  logged.mockRestore();
  expect(what).toEqual(['arguments of direct', 'a result of direct']);
});

test.each([
  [{}, false],
  [{ readOnlyHint: true }, true],
  [{ idempotentHint: true }, true],
  [{ readOnlyHint: false, idempotentHint: 'true' }, false],
])('a tool with the annotations %j may run again: %s', (annotations, may) => {
  expect(isRepeatable({ ...direct, annotations })).toBe(may);
  expect(isRepeatable(direct)).toBe(false);
});

test('the endpoint does not start without a variable of its environment, and names it', () => {
  vi.stubGlobal('awslambda', { streamifyResponse: (handler: unknown) => handler });
  vi.stubEnv('AWS_REGION', 'eu-west-1');
  const names = ['TASKS_TABLE', 'RESULTS_BUCKET', 'SIGNING_KEY_SECRET', 'MACHINE_ARN_PREFIX'];
  for (const missing of names) {
    for (const name of names) vi.stubEnv(name, name === missing ? undefined : 'named');
    const start = () => createHandler({ ...manifest, tools: [] }, { inputs: [], outputs: [] });
    expect(start).toThrow(`The environment variable ${missing} is not set`);
  }
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});
