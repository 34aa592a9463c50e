import { createRequire } from 'node:module';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IStateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import type { ToolEntry, Validator } from '../../../functions/mcp/manifest.ts';
import { defineTool, type OutputOf } from '../../../functions/tool/index.ts';
import { runTool } from '../../../functions/tool/testing.ts';
import type { StateMachineToolProps } from '../../../lib/index.ts';
import { toolEntry } from '../../../lib/tools/tool-entry.ts';
import { validatorsCode } from '../../../lib/tools/validators.ts';

const inputSchema = { type: 'object' } as const;
const anything = { description: 'd', inputSchema } as const;

describe('a schema of a library as outputSchema', () => {
  const invoice = z.object({
    total: z.number(),
    currency: z.string().default('EUR'),
    lines: z.array(z.object({ text: z.string().trim() })).optional(),
  });
  const definition = { description: 'd', inputSchema, outputSchema: invoice } as const;
  const returning = (value: unknown) =>
    runTool(
      defineTool(definition, () => value as never),
      {},
    );

  test('the run returns what the schema takes, and OutputOf is what it makes of that', () => {
    defineTool(definition, () => ({ total: 1 }));
    defineTool(definition, () => ({ content: [], structuredContent: { total: 1 } }));
    // @ts-expect-error total is a number
    defineTool(definition, () => ({ total: 'one' }));
    // @ts-expect-error total is missing
    defineTool(definition, () => ({ currency: 'EUR' }));
    expectTypeOf<OutputOf<typeof invoice>['currency']>().toEqualTypeOf<string>();
  });

  test('the endpoint checks the result by its JSON Schema', async () => {
    const tool = defineTool(definition, () => ({ total: 5, unknown: true, lines: [{ text: ' a ' }] }));
    const validate = outputValidator(
      toolEntry('t', { ...tool.definition, handler: { functionArn: 'arn:f' } as IFunction }, [], 3_600_000),
    );
    const { result } = await runTool(tool, {});
    expect(result).toEqual({ total: 5, currency: 'EUR', lines: [{ text: 'a' }] });
    expect(validate(result)).toBe(true);
    expect(validate({ total: 5 })).toBe(false);
  });

  test('of a CallToolResult the structured content is checked, and an error is left alone', async () => {
    const content = [{ type: 'text', text: '5 €' }];
    const whole = { content, structuredContent: { total: 5, currency: 'EUR' } };
    expect((await returning({ content, structuredContent: { total: 5 } })).result).toEqual(whole);
    expect((await returning({ structuredContent: { total: 5 } })).result).toEqual({
      structuredContent: whole.structuredContent,
    });
    const error = { content, isError: true };
    expect((await returning(error)).result).toEqual(error);
    await expect(returning({ content })).rejects.toThrow('expected object');
  });

  test('fields named content and structuredContent in a result of its own shape are plain fields', async () => {
    const outputSchema = z.object({ content: z.array(z.string().trim()) });
    const tool = defineTool({ ...anything, outputSchema }, () => ({ content: [' a '] }));
    expect((await runTool(tool, {})).result).toEqual({ content: ['a'] });
  });

  test('a result that does not fit fails the run, with each field and its problem', async () => {
    const failed = returning({ total: 'one', lines: [{}] });
    await expect(failed).rejects.toMatchObject({ name: 'ResultMisfit' });
    await expect(failed).rejects.toThrow(
      /^The result does not fit the outputSchema: total: .*expected number.*; lines\.0\.text: .*expected string/,
    );
  });
});

test('what does not fit an inputSchema of a library is refused with its path', async () => {
  const schema = z.object({ who: z.object({ name: z.string() }) });
  const tool = defineTool({ description: 'd', inputSchema: schema }, () => 1);
  const { result } = await runTool(tool, { who: {} } as never);
  expect(result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/^Invalid arguments: who\.name: /) }],
  });
});

test.each(['inputSchema', 'outputSchema'] as const)(
  'a schema that no JSON can describe is refused by its field: %s',
  (field) => {
    const outputSchema = z.object({ at: z.date() });
    const tool = defineTool({ ...anything, [field]: outputSchema }, () => ({ at: new Date() }) as never);
    expect(() => tool.definition).toThrow(`${field}: zod cannot write it as JSON Schema: Date cannot be represented`);
  },
);

describe('the definition of a tool', () => {
  const stateMachine = {} as IStateMachine;
  const machineTool = (props: StateMachineToolProps) => toolEntry('t', props, [], 3_600_000).taskSupport;

  test.each(['optional', 'required'] as const)('is what addTool takes beside a state machine: %s', (taskSupport) => {
    const { definition } = defineTool({ ...anything, taskSupport }, () => 1);
    expect(machineTool({ ...definition, stateMachine })).toBe(taskSupport);
  });

  test('is that also without a taskSupport, but not with forbidden', () => {
    expect(machineTool({ ...defineTool(anything, () => 1).definition, stateMachine })).toBe('optional');
    const { definition } = defineTool({ ...anything, taskSupport: 'forbidden' }, () => 1);
    // @ts-expect-error a state machine always runs as a task
    expect(() => machineTool({ ...definition, stateMachine })).toThrow('a state machine always runs as a task');
  });
});

function outputValidator(entry: ToolEntry): Validator {
  const exports: { outputs?: Validator[] } = {};
  new Function('exports', 'require', validatorsCode([entry]))(exports, createRequire(import.meta.url));
  return exports.outputs?.[0] as Validator;
}
