import { describe, expect, test, vi } from 'vitest';
import { legacySession, modernMessage, modernRequest, openStream, poll, runTask, TASKS } from '../support/clients.ts';
import { useCloud } from '../support/cloud.ts';

const cloud = useCloud();
const url = () => `${cloud().url}/mcp`;

describe('the way of a task', () => {
  test('what it costs: 2 charged states, 1 put, 1 start, 1 update, at most 6 write units', async () => {
    const mark = cloud().calls.mark();
    const { taskId } = await runTask(url(), 'echo', { a: 1 });
    const calls = cloud().calls.since(mark);
    const writes = calls.filter(({ operation }) => ['PutItem', 'UpdateItem', 'DeleteItem'].includes(operation));
    expect(writes.map(({ operation }) => operation)).toEqual(['PutItem', 'UpdateItem']);
    expect(calls.filter(({ operation }) => operation === 'StartExecution')).toHaveLength(1);
    const units = (of: 'table' | 'index') => writes.reduce((sum, { consumed }) => sum + (consumed?.[of] ?? 99), 0);
    expect(units('table')).toBeGreaterThan(1);
    expect(units('table')).toBeLessThanOrEqual(6);
    // Two in `due`, three in `status`: in it, out of `working`, into its end.
    expect(units('index')).toBe(5);
    const execution = cloud()
      .stepFunctions.executions()
      .find(({ name }) => name === `${taskId}-r1`);
    expect(execution).toMatchObject({ status: 'SUCCEEDED', states: ['Run', 'Finish'], transitions: 2 });
  });

  test('a caller with counted open tasks pays one update more, at most 6 write units (C-37)', async () => {
    const session = await legacySession(url());
    const mark = cloud().calls.mark();
    const { body } = await session.request('tools/call', { name: 'echo', arguments: {}, task: {} });
    await vi.waitFor(async () => {
      const { result } = (await session.request('tasks/get', { taskId: body.result.task.taskId })).body;
      expect(result.status).toBe('completed');
    });
    const writes = cloud()
      .calls.since(mark)
      .filter(({ operation }) => ['PutItem', 'UpdateItem', 'DeleteItem'].includes(operation));
    expect(writes.map(({ operation }) => operation)).toEqual(['UpdateItem', 'PutItem', 'UpdateItem']);
    const units = (of: 'table' | 'index') => writes.reduce((sum, { consumed }) => sum + (consumed?.[of] ?? 99), 0);
    expect(units('table')).toBeLessThanOrEqual(6);
  });

  test('a poll costs one read unit for the record and half a unit for its report', async () => {
    const { taskId } = await runTask(url(), 'echo');
    const { body } = await modernRequest(url(), 'tools/call', { name: 'steps', arguments: { steps: 6 } });
    const working = body.result.taskId;
    await poll(url(), working, ({ statusMessage }) => statusMessage !== undefined);
    for (const id of [taskId, working]) {
      const mark = cloud().calls.mark();
      await modernRequest(url(), 'tasks/get', { taskId: id });
      const calls = cloud()
        .calls.since(mark)
        .filter(({ caller }) => /Endpoint/.test(caller));
      expect(calls.map(({ operation }) => operation)).toEqual(['GetItem', 'GetItem']);
      const units = calls.map(({ input, consumed }) => [
        (input as { ConsistentRead?: boolean }).ConsistentRead,
        consumed,
      ]);
      expect(units).toEqual(
        expect.arrayContaining([
          [true, { table: 1, index: 0 }],
          [undefined, { table: 0.5, index: 0 }],
        ]),
      );
    }
    // Its writes must not be among those that the next tests count.
    await poll(url(), working, ({ status }) => status === 'completed');
  });

  test('tasks/update and tasks/cancel read the record alone', async () => {
    const { body } = await modernRequest(url(), 'tools/call', { name: 'ask' });
    const { taskId } = body.result;
    await poll(url(), taskId, ({ status }) => status === 'input_required');
    for (const [method, more] of [
      ['tasks/update', { inputResponses: { 'r1.nothing': { action: 'decline' } } }],
      ['tasks/cancel', {}],
    ] as const) {
      const mark = cloud().calls.mark();
      await modernRequest(url(), method, { taskId, ...more });
      const reads = cloud()
        .calls.since(mark)
        .filter(({ operation, caller }) => operation === 'GetItem' && /Endpoint/.test(caller));
      expect(reads.length, method).toBeGreaterThan(0);
      for (const { consumed } of reads) expect(consumed, method).toEqual({ table: 1, index: 0 });
    }
  });

  test('a read of many small tasks costs one unit each, half a unit more while it works', async () => {
    const call = () => modernRequest(url(), 'tools/call', { name: 'ask' });
    const started = await Promise.all(Array.from({ length: 5 }, call));
    const taskIds = started.map(({ body }) => body.result.taskId);
    for (const taskId of taskIds) await poll(url(), taskId, ({ status }) => status === 'input_required');
    const working = (await modernRequest(url(), 'tools/call', { name: 'sleep', arguments: { ms: 8_000 } })).body;
    taskIds.push(working.result.taskId);
    const mark = cloud().calls.mark();
    const { body, headers } = modernMessage('subscriptions/listen', { notifications: { taskIds } });
    const stream = await openStream(url(), body, headers);
    const reads = () =>
      cloud()
        .calls.since(mark)
        .filter(({ operation }) => operation === 'BatchGetItem');
    await expect.poll(() => reads().length).toBeGreaterThan(1);
    stream.close();
    const read = reads().map(({ consumed }) => consumed?.table);
    expect(read).toEqual(read.map((_, i) => (i % 2 === 0 ? 6 : 0.5)));
    // The function does not see that its client is gone: it reads on while a task is open.
    await Promise.all(taskIds.map((taskId) => modernRequest(url(), 'tasks/cancel', { taskId })));
  });

  test('tasks/get right after the answer finds the task (E-09)', async () => {
    const { body } = await modernRequest(url(), 'tools/call', { name: 'sleep', arguments: { ms: 20_000 } });
    const { body: got } = await modernRequest(url(), 'tasks/get', { taskId: body.result.taskId });
    expect(got.result).toMatchObject({ status: 'working', resultType: 'complete' });
  });

  test('the function gets the contract, and its arguments unchanged', async () => {
    const args = { n: 9007199254740991, text: '{% $x %} ${y}', nested: { deep: [1, [2]] } };
    const { result, taskId } = await runTask(url(), 'event', args);
    expect(result.structuredContent.event).toMatchObject({
      name: 'event',
      arguments: args,
      task: { taskId, round: 1, attempt: 0, deadline: expect.any(Number) },
      inputResponses: {},
      requestState: null,
    });
  });

  test('progress is the status message of a working task (E-27)', async () => {
    const { body } = await modernRequest(url(), 'tools/call', { name: 'steps', arguments: { steps: 3 } });
    const seen = new Set<string>();
    const done = await poll(url(), body.result.taskId, (task) => {
      if (task.status === 'working' && task.statusMessage) seen.add(task.statusMessage);
      return task.status !== 'working';
    });
    expect([...seen]).toEqual(['step 1', 'step 2', 'step 3']);
    expect(done).toMatchObject({ status: 'completed', result: { content: [{ text: 'done' }] } });
    expect(done.statusMessage).toBeUndefined();
  });
});

describe('failure', () => {
  test('a tool that throws fails its task, without details (A-15, E-13)', async () => {
    const task = await runTask(url(), 'throws');
    expect(task).toMatchObject({
      status: 'failed',
      statusMessage: 'The tool failed',
      error: { code: -32603, message: 'The tool failed', data: { reason: 'TypeError' } },
    });
    expect(JSON.stringify(task)).not.toMatch(/secret|arn:|stack|at /);
  });
});

describe('a call that opted for no task', () => {
  const plain = { capabilities: {} };

  test('forbidden: invoked directly, nothing stored', async () => {
    // Changes of the tasks before are still published.
    await cloud().streams.drained();
    const mark = cloud().calls.mark();
    const { body } = await modernRequest(url(), 'tools/call', { name: 'direct_echo', arguments: { a: 1 } });
    expect(body.result).toMatchObject({
      resultType: 'complete',
      structuredContent: { args: { a: 1 }, hadTask: false },
    });
    expect(
      cloud()
        .calls.since(mark)
        .filter(({ service }) => service !== 'lambda'),
    ).toEqual([]);
  });

  test('required: refused before anything happens (E-04, C-06)', async () => {
    // Changes of the tasks before are still published.
    await cloud().streams.drained();
    const mark = cloud().calls.mark();
    const modern = await modernRequest(url(), 'tools/call', { name: 'ask' }, plain);
    expect(modern.status).toBe(400);
    expect(modern.body.error).toMatchObject({ code: -32021, data: { requiredCapabilities: TASKS } });
    const legacy = await (await legacySession(url())).request('tools/call', { name: 'ask' });
    expect(legacy.body.error.code).toBe(-32601);
    expect(
      cloud()
        .calls.since(mark)
        .filter(({ service }) => service !== 'secretsmanager'),
    ).toEqual([]);
  });

  test('a tool that throws is a plain internal error (A-15)', async () => {
    const { body } = await modernRequest(url(), 'tools/call', { name: 'direct_throws' });
    expect(body.error).toEqual({ code: -32603, message: 'The tool failed', data: { reason: 'TypeError' } });
  });
});

test('no operation of the whole file was a Scan', () => {
  const operations = new Set(
    cloud()
      .calls.since()
      .map(({ operation }) => operation),
  );
  expect(operations).toContain('GetItem');
  expect(operations).not.toContain('Scan');
});
