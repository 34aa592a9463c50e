import { describe, expect, test } from 'vitest';
import type { ToolEvent } from '../../../functions/tasks/tool-contract.ts';
import { defineTool } from '../../../functions/tool/index.ts';

const schema = { type: 'object' } as const;
const task = {
  ...{ taskId: 't', owner: 'o', table: 'tasks', results: 'results', round: 1, attempt: 0 },
  deadline: Date.now() + 60_000,
};
const eventWith = (more: object | undefined): ToolEvent => ({
  ...{ name: 'x', arguments: {}, accepts: ['roots/list'], inputResponses: {}, requestState: null },
  ...(more !== undefined && { task: { ...task, ...more } }),
});
const toolThat = (run: () => unknown) => defineTool({ description: 'x', inputSchema: schema }, run);

describe('what a defined tool gives to Lambda', () => {
  test.each([
    [{ a: 1 }, { mcpTask: 1, text: '{"a":1}' }],
    [undefined, { mcpTask: 1, text: 'null' }],
    [['\ud800'], { mcpTask: 1, text: '["\\ud800"]' }],
    [
      { content: [], isError: true },
      { mcpTask: 1, text: '{"content":[],"isError":true}', isError: true },
    ],
    [{ isError: 'yes' }, { mcpTask: 1, text: '{"isError":"yes"}' }],
  ])('%j in an envelope, if the workflow takes one', async (returned, expected) => {
    expect(await toolThat(() => returned)(eventWith({ envelope: 1 }))).toEqual(expected);
  });

  test('its questions in an envelope', async () => {
    const tool = defineTool({ description: 'x', inputSchema: schema }, (_args, { requireInput }) =>
      requireInput({ a: { method: 'roots/list' } }),
    );
    const envelope = await tool(eventWith({ envelope: 1 }));
    expect(envelope).toMatchObject({ mcpTask: 1, asks: true });
    expect(JSON.parse((envelope as { text: string }).text)).toMatchObject({
      inputRequests: { a: { method: 'roots/list' } },
    });
  });

  test.each([undefined, {}, { envelope: 2 }])(
    'as it is to a direct call, an earlier workflow and one that takes another envelope: %j',
    async (more) => {
      expect(await toolThat(() => ({ a: 1 }))(eventWith(more))).toEqual({ a: 1 });
    },
  );

  test('all of a large result, if a state machine calls it: no reader is behind the next state', async () => {
    const result = { rows: 'x'.repeat(5_000) };
    expect(await toolThat(() => result)(eventWith({}))).toEqual(result);
  });

  test('in each call of a state machine the value of its own step, also under one name', async () => {
    const machine = (which: string) =>
      defineTool({ description: 'x', inputSchema: schema }, (_args, { step }) => step('read', async () => which))(
        eventWith({}),
      );
    expect(await Promise.all([machine('a'), machine('b')])).toEqual(['a', 'b']);
  });

  test('an error for a step with atMostOnce, if a state machine calls it: it may call again', async () => {
    const tool = defineTool({ description: 'x', inputSchema: schema }, (_args, { step }) =>
      step('pay', async () => 1, { atMostOnce: true }),
    );
    await expect(tool(eventWith({}))).rejects.toThrow("Step 'pay' cannot have atMostOnce: a state machine calls");
  });
});
