import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { TaskContext, ToolEvent } from '../../../functions/tasks/tool-contract.ts';
import { defineTool, elicitForm, type Task } from '../../../functions/tool/index.ts';

const db = mockClient(DynamoDBDocumentClient);
vi.stubEnv('AWS_REGION', 'eu-west-1');
afterAll(() => {
  db.restore();
  vi.unstubAllEnvs();
});
const denied = Object.assign(new Error('arn:aws:dynamodb:secret is not authorized'), { name: 'AccessDeniedException' });
const lost = new ConditionalCheckFailedException({
  message: 'The conditional request failed',
  $metadata: { httpStatusCode: 400 },
});
const logged = vi.spyOn(console, 'error').mockImplementation(() => {});

let tasks = 0;
/** Of another task each time: one reports once a second at most. */
const event = (attempt = 0, args = {}): ToolEvent => ({
  name: 't',
  arguments: args,
  accepts: [],
  inputResponses: {},
  requestState: null,
  task: {
    taskId: `t${tasks++}`,
    owner: 'o',
    table: 'T',
    results: 'B',
    ...{ round: 1, envelope: 1 },
    attempt,
    deadline: Date.now() + 60_000,
  },
});
const steps: string[] = [];
const DONE = { mcpTask: 1, text: '{"ok":true}' };
const tool = defineTool(
  { description: 'd', inputSchema: { type: 'object', properties: { atMostOnce: { type: 'boolean' } } } },
  async ({ atMostOnce = false }, task) => {
    await task.progress(`try ${task.attempt}`);
    await task.step('one', () => void steps.push('one'), { atMostOnce });
    await task.step('two', () => void steps.push('two'));
    return { ok: true };
  },
);

beforeEach(() => {
  db.reset();
  logged.mockClear();
  steps.length = 0;
  process.env.AWS_REGION = 'eu-west-1';
});

describe('a tool whose role may not read its task', () => {
  test('still reports and stores its steps, and says so once', async () => {
    vi.resetModules();
    db.on(GetCommand).rejects(denied);
    db.on(UpdateCommand).resolves({});
    expect(await tool(event())).toEqual(DONE);
    expect(steps).toEqual(['one', 'two']);
    const written = db
      .commandCalls(UpdateCommand)
      .map(({ args: [{ input }] }) => [input.Key?.taskId, input.ExpressionAttributeValues?.[':value']]);
    expect(written.map(([key, value]) => [key.replace(/^t\d+/, ''), value])).toEqual([
      ['', undefined],
      ['#step#one', 'null'],
      ['#step#two', 'null'],
    ]);
    expect(logged.mock.calls).toEqual([
      ['{"event":"read_denied","action":"dynamodb:GetItem","error":"AccessDeniedException"}'],
    ]);
  });

  test('stops where a later round of its task has reported (C-27)', async () => {
    db.on(GetCommand).rejects(denied);
    db.on(UpdateCommand).rejects(lost);
    expect(await tool(event())).toMatchObject({ isError: true });
    expect(steps).toEqual([]);
  });

  test('begins a retried round without the steps of the try before', async () => {
    db.on(GetCommand).rejects(denied);
    db.on(QueryCommand).rejects(denied);
    db.on(UpdateCommand).resolves({});
    expect(await tool(event(1))).toEqual(DONE);
    expect(steps).toEqual(['one', 'two']);
  });
});

describe('a tool whose role may not write beside its task', () => {
  test('goes on with its steps, and says so once', async () => {
    vi.resetModules();
    db.on(GetCommand).resolves({ Item: { status: 'working', round: 1 } });
    db.on(UpdateCommand).rejects(denied);
    expect(await tool(event())).toEqual(DONE);
    expect(await tool(event())).toEqual(DONE);
    expect(steps).toEqual(['one', 'two', 'one', 'two']);
    expect(logged.mock.calls).toEqual([
      ['{"event":"write_denied","action":"dynamodb:UpdateItem","error":"AccessDeniedException"}'],
    ]);
  });

  test('begins no step with atMostOnce', async () => {
    db.on(GetCommand).resolves({ Item: { status: 'working', round: 1 } });
    db.on(UpdateCommand).rejects(denied);
    await expect(tool(event(0, { atMostOnce: true }))).rejects.toMatchObject({ name: 'AccessDeniedException' });
    expect(steps).toEqual([]);
  });

  test('still stops when its task is over', async () => {
    db.on(GetCommand).resolves({ Item: { status: 'cancelled', round: 1 } });
    db.on(UpdateCommand).rejects(denied);
    expect(await tool(event())).toMatchObject({ isError: true });
    expect(steps).toEqual([]);
  });
});

describe('a tool that waits, and whose role', () => {
  const given: string[] = [];
  const within = { days: 1 };
  const waits = {
    sleep: (task) => task.sleep('night', within),
    until: (task) => task.until('ready', () => false, { every: { hours: 1 }, within }),
    link: async (task) => {
      const approval = await task.link('approval', elicitForm('Ok?', {}), { within });
      given.push(approval.url);
      return approval.answer();
    },
    webhook: async (task) => {
      const paid = await task.webhook('paid', { within });
      given.push(paid.url);
      return paid.received();
    },
  } satisfies Record<string, (task: Task) => Promise<unknown>>;
  const names = Object.keys(waits) as (keyof typeof waits)[];
  /** An event whose round may end with waits. */
  const waiting = (round = 1): ToolEvent => {
    const { task, ...rest } = event();
    const taskDeadline = Date.now() + 7 * 86_400_000;
    const signals = { url: 'https://mcp.example/signals', key: 'k' };
    return { ...rest, task: { ...(task as TaskContext), round, envelope: 1, taskDeadline, signals } };
  };
  const toolOf = (name: keyof typeof waits) =>
    defineTool({ description: 'd', inputSchema: { type: 'object' } }, async (_args, task) => {
      await waits[name](task);
      return null;
    });

  beforeEach(() => {
    given.length = 0;
    db.on(GetCommand).resolves({ Item: { status: 'working', round: 1 } });
  });

  test.each(names)('may not write beside its task: no %s begins, and no URL is given away', async (name) => {
    db.on(UpdateCommand).rejects(denied);
    await expect(toolOf(name)(waiting())).rejects.toMatchObject({ name: 'AccessDeniedException' });
    expect(given).toEqual([]);
  });

  test.each(names)('may not read there: a later round does not begin its %s again', async (name) => {
    db.on(UpdateCommand).rejects(lost);
    db.on(QueryCommand).rejects(denied);
    await expect(toolOf(name)(waiting(2))).rejects.toMatchObject({ name: 'AccessDeniedException' });
    expect(given).toEqual([]);
  });

  test.each(names)('may read and write there: its round ends with the %s', async (name) => {
    db.on(UpdateCommand).resolves({});
    expect(await toolOf(name)(waiting())).toMatchObject({ mcpTask: 1, waits: {} });
    expect(given).toHaveLength(name === 'link' || name === 'webhook' ? 1 : 0);
  });
});

const invalid = Object.assign(new Error('invalid'), {
  name: 'ValidationException',
  $metadata: { httpStatusCode: 400 },
});

test('another write error reaches the tool: a step that is not kept would run twice', async () => {
  db.on(GetCommand).resolves({ Item: { status: 'working', round: 1 } });
  db.on(UpdateCommand).rejects(invalid);
  await expect(tool(event())).rejects.toMatchObject({ name: 'ValidationException' });
  expect(steps).toEqual(['one']);
});

test('another read error reaches the tool: its steps must not run twice unnoticed', async () => {
  db.on(QueryCommand).rejects(invalid);
  await expect(tool(event(1))).rejects.toMatchObject({ name: 'ValidationException' });
  expect(steps).toEqual([]);
});
