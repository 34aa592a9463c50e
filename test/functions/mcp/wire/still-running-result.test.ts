import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import type { JsonSchema, ToolEntry } from '../../../../functions/mcp/manifest.ts';
import { advertised, stillRunningResult } from '../../../../functions/mcp/wire/still-running-result.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { fakeServer, manifest } from '../support/fake-server.ts';

const entry = (outputSchema: JsonSchema, more: Partial<ToolEntry> = {}): ToolEntry => ({
  ...{ name: 't', description: 'd', inputSchema: { type: 'object' }, taskSupport: 'optional', timeout: 1_000 },
  ...{ outputSchema, ...more },
});
const task = { tool: 't', ttl: 1, timeout: 1, accepts: [], legacy: false };
const record = create({ owner: 'o', taskId: 'the-task' }, task, 0);
const withHelpers = fakeServer({ manifest: { ...manifest, helperTools: true } }).server;
const running = stillRunningResult(record, withHelpers).structuredContent;

const string = { type: 'string' };
const number = { type: 'number' };
const tree = { type: 'object', properties: { n: number, next: { $ref: '#' } }, required: ['n'] };
const text = (schema: object) => ({ type: 'object', properties: { a: schema }, required: ['a'] });

describe('the outputSchema that clients see', () => {
  test.each<[string, JsonSchema, unknown, unknown]>([
    ['of an object', text(string), { a: 'x' }, { a: 5 }],
    ['of no object', { type: 'array', items: string }, ['x'], [5]],
    ['that refers to itself', tree, { n: 1, next: { n: 2 } }, { n: 1, next: { n: 'x' } }],
    ['with definitions', { ...text({ $ref: '#/$defs/b' }), $defs: { b: string } }, { a: 'x' }, { a: 5 }],
    [
      'whose definitions refer to a part of it',
      {
        ...text({ $ref: '#/$defs/b' }),
        $defs: { b: { $ref: '#/properties/c' } },
        properties: { a: { $ref: '#/$defs/b' }, c: string },
      },
      { a: 'x' },
      { a: 5 },
    ],
    ['of an older draft', { ...text({ $ref: '#/definitions/b' }), definitions: { b: string } }, { a: 'x' }, { a: 5 }],
    ['with an anchor', { ...text({ $ref: '#b' }), $defs: { b: { $anchor: 'b', ...string } } }, { a: 'x' }, { a: 5 }],
    [
      'that is a separate document',
      { ...tree, $id: 'https://a.example/tree' },
      { n: 1, next: { n: 2 } },
      { n: 1, next: {} },
    ],
    [
      'that is a separate document with definitions',
      { ...text({ $ref: '#/$defs/b' }), $id: 'https://a.example/b', $defs: { b: string } },
      { a: 'x' },
      { a: 5 },
    ],
    [
      'with a part that is a separate document',
      text({ ...tree, $id: 'https://a.example/inner' }),
      { a: { n: 1, next: { n: 2 } } },
      { a: { n: 1, next: { n: 'x' } } },
    ],
    ['that refers to itself in a list', text({ anyOf: [{ $ref: '#' }, string] }), { a: { a: 'x' } }, { a: running }],
    ['that refers to itself in items', text({ type: 'array', items: { $ref: '#' } }), { a: [] }, { a: [running] }],
    ['with a text that looks like a reference', text({ pattern: '#/x', ...string }), { a: '#/x' }, { a: '#' }],
    [
      'with properties that are called like keywords',
      {
        type: 'object',
        properties: { $id: string, default: { $ref: '#/properties/const' }, const: number, $ref: string },
      },
      { $id: 'x', default: 5, const: 5, $ref: '#' },
      { default: 'x' },
    ],
    [
      'with data that looks like a reference',
      text({ const: { $ref: '#' } }),
      { a: { $ref: '#' } },
      { a: { $ref: '#/anyOf/0' } },
    ],
    [
      'that names its dialect',
      { ...text(string), $schema: 'https://json-schema.org/draft/2020-12/schema' },
      { a: 'x' },
      {},
    ],
  ])('takes what fits the one %s, and the answer of a tool that still runs (A-19)', (_, schema, good, bad) => {
    const own = new Ajv2020({ strict: false }).compile(schema);
    expect([own(good), own(bad), own(running)]).toEqual([
      true,
      false,
      'properties' in schema && !('required' in schema),
    ]);
    const { outputSchema = {} } = advertised(entry(schema), { helperTools: true });
    const told = new Ajv2020({ strict: false }).compile(outputSchema);
    expect([told(good), told(bad), told(running)]).toEqual([true, false, true]);
    expect(outputSchema.type).toBe(schema.type === 'object' ? 'object' : undefined);
    expect(outputSchema.$schema).toBe(schema.$schema);
  });

  test('is its own where a call always waits, or cannot: no task, only as a task, no helper tools', () => {
    const told = (more: Partial<ToolEntry>, helperTools: boolean) =>
      advertised(entry(text(string), more), { helperTools }).outputSchema;
    for (const taskSupport of ['forbidden', 'required'] as const) {
      expect(told({ taskSupport }, true)).toEqual(text(string));
    }
    expect(told({}, false)).toEqual(text(string));
    const { outputSchema: _, ...without } = entry({});
    expect(advertised(without, { helperTools: true })).toBe(without);
  });
});

test('a tool that still runs: with helper tools, how to get its result (F-14)', () => {
  const next =
    'Tool t is still running as task the-task. It has not failed: do not call it again. ' +
    'Call get_task_result with {"taskId":"the-task"} to get its result.';
  expect(stillRunningResult(record, withHelpers)).toEqual({
    content: [{ type: 'text', text: next }],
    structuredContent: { taskId: 'the-task', status: 'working', next },
  });
});

test('a tool that still runs: an error without helper tools, with "do not call again" (F-14)', () => {
  const { content, isError } = stillRunningResult(record, fakeServer().server);
  expect(isError).toBe(true);
  expect(content).toEqual([
    { type: 'text', text: expect.stringContaining('It has not failed: do not call it again.') },
  ]);
});
