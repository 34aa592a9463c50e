import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Tool } from '../../../functions/mcp/context.ts';
import type { ToolEntry } from '../../../functions/mcp/manifest.ts';
import { definition } from '../../../lib/workflow/definition.ts';
import { compileExpression } from '../../../local/testing.ts';
import { executionArn } from '../../support/engine/memory.ts';
import { clients } from './support/fake-clients.ts';
import { fakeServer, manifest } from './support/fake-server.ts';

/** What a caller may run is what is registered: no name and no argument chooses another function or state machine. */

const base = { description: 'd', inputSchema: { type: 'object' }, timeout: 60_000, taskSupport: 'optional' } as const;
const TOOLS: readonly ToolEntry[] = [
  { ...base, name: 'direct', taskSupport: 'forbidden' },
  { ...base, name: 'plain', engine: 'standard' },
  { ...base, name: 'quick', engine: 'express', annotations: { readOnlyHint: true } },
  { ...base, name: 'constructor', engine: 'standard' },
  { ...base, name: 'flow', engine: 'machine' },
];
const FUNCTIONS: Readonly<Record<string, string>> = {
  plain: 'arn:aws:lambda:eu-west-1:111111111111:function:Plain',
  quick: 'arn:aws:lambda:eu-west-1:111111111111:function:Quick',
  constructor: 'arn:aws:lambda:eu-west-1:111111111111:function:Constructor',
};
const ENDPOINT = 'arn:aws:lambda:eu-west-1:111111111111:function:Endpoint';
const HOSTILE = [
  ...['__proto__', 'prototype', 'toString', 'valueOf', 'hasOwnProperty', '__defineGetter__', 'length', 'then', ''],
  ...['get_task_result', 'cancel_task', 'Endpoint', 'ServerEndpoint', ENDPOINT, `${ENDPOINT}:1`, executionArn('t', 1)],
  ...['{% $states.context %}', "' & $states.context.Execution.Input.owner & '", "plain'}, {'", '${Functions}', '$x'],
  ...['plain ', ' plain', 'Plain', 'plain\u0000', 'ｐlain', 'pla\u00adin', '../plain', 'plain/direct', 'plain,direct'],
  ...['0', '-1', 'null', 'x'.repeat(70_000), '🙂'.repeat(40), '\ud800', '\u202enialp'],
];
const hostile = fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: 'binary', maxLength: 200 }));
const name = fc.oneof(
  { weight: 3, arbitrary: hostile },
  { weight: 1, arbitrary: fc.constantFrom(...TOOLS.map((tool) => tool.name)) },
);
/** Members by which a caller might hope to choose what runs, wherever it may write an object. */
const MEMBERS = [
  'tool',
  'name',
  'function',
  'FunctionName',
  'StateMachineArn',
  'engine',
  'stateMachine',
  'taskId',
  '__proto__',
];
const chosen = fc.dictionary(fc.constantFrom(...MEMBERS), fc.oneof(hostile, fc.constantFrom('machine', 0, 1, 99)));
const call = fc.record({
  name,
  args: chosen,
  beside: chosen,
  meta: chosen,
  revision: fc.constantFrom('modern', 'legacy'),
});

test('no name, argument or member of a call chooses a function or a workflow (A-18)', async () => {
  const tools = TOOLS.map((entry): [string, Tool] => [
    entry.name,
    { entry, validate: () => true, validateOutput: undefined },
  ]);
  const invoked: ToolEntry[] = [];
  const fake = fakeServer({
    manifest: { ...manifest, tools: TOOLS, inlineWindow: 0 },
    tools: new Map(tools),
    async invoke(tool) {
      invoked.push(tool);
      return { text: '"hi"' };
    },
  });
  const { modern, legacy } = clients(fake);
  const runs = new Set<string>();
  await fc.assert(
    fc.asyncProperty(call, async ({ name, args, beside, meta, revision }) => {
      const started = fake.executions.all().length;
      invoked.length = 0;
      const params = { ...beside, name, arguments: args, _meta: meta, ...(revision === 'legacy' && { task: beside }) };
      await (revision === 'modern' ? modern('tools/call', params) : legacy('tools/call', params));
      const registered = TOOLS.find((tool) => tool.name === name);
      const executions = fake.executions.all().slice(started);
      for (const { arn, input } of executions) {
        const read: Record<string, unknown> = JSON.parse(input);
        expect(read.tool).toBe(registered?.name);
        expect(arn.split(':')[6]).toBe(`S-${registered?.engine}`);
        if (registered?.engine !== 'machine') expect(await functionOf(read)).toBe(FUNCTIONS[name]);
      }
      expect(executions.length).toBeLessThanOrEqual(registered?.engine === undefined ? 0 : 1);
      expect(invoked.map((tool) => tool.name)).toEqual(invoked.length === 0 ? [] : ['direct']);
      if (invoked.length > 0) expect(name).toBe('direct');
      if (executions.length + invoked.length > 0) runs.add(name);
    }),
    { numRuns: 1_500 },
  );
  expect([...runs].toSorted()).toEqual(TOOLS.map((tool) => tool.name).toSorted());
});

test('a workflow finds the function of a tool that is registered, and none for any other name', async () => {
  for (const [tool, arn] of Object.entries(FUNCTIONS)) expect(await functionOf({ tool })).toBe(arn);
  for (const tool of HOSTILE) expect(await functionOf({ tool }).catch(() => undefined)).toBeUndefined();
});

/** What the workflow runs for an input. */
async function functionOf(Input: object): Promise<unknown> {
  const { FunctionName } = JSON.parse(definition('standard')).States.Run.Arguments as { FunctionName: string };
  const listed = Object.entries(FUNCTIONS).map(([tool, arn]) => `'${tool}': '${arn}'`);
  const text = FunctionName.replace('${Functions}', `{${listed.join(', ')}}`).replace(/^\{%|%\}$/g, '');
  const value = await compileExpression(text).evaluate({ states: { context: { Execution: { Input } } } });
  return typeof value === 'string' ? value : undefined;
}
