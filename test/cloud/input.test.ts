import { describe, expect, test } from 'vitest';
import { ended, modernRequest, poll, TASKS } from '../support/clients.ts';
import { useCloud } from '../support/cloud.ts';

const cloud = useCloud();
const url = () => `${cloud().url}/mcp`;
const asking = (task: { status: string }) => task.status === 'input_required' || task.status === 'failed';
const accept = (ok: boolean) => ({ action: 'accept', content: { ok } });

async function start(name: string, capabilities?: object): Promise<string> {
  const { body } = await modernRequest(url(), 'tools/call', { name }, capabilities ? { capabilities } : {});
  return body.result.taskId;
}
const update = (taskId: string, inputResponses: unknown) =>
  modernRequest(url(), 'tasks/update', { taskId, inputResponses });

describe('input', () => {
  test('a question ends the round; its answer starts the next one with all the tool remembered', async () => {
    const taskId = await start('ask');
    const task = await poll(url(), taskId, asking);
    expect(task.inputRequests).toEqual({
      'r1.confirm': { method: 'elicitation/create', params: expect.objectContaining({ message: 'Really?' }) },
    });
    expect(task).not.toHaveProperty('requestState');
    const executions = () =>
      cloud()
        .stepFunctions.executions()
        .filter(({ name }) => name.startsWith(taskId));
    expect(executions().map(({ status }) => status)).toEqual(['SUCCEEDED']);
    const ack = await update(taskId, { 'r1.confirm': accept(true) });
    expect(Object.keys(ack.body.result).sort()).toEqual(['_meta', 'resultType']);
    const done = await poll(url(), taskId, ended);
    expect(done.result.structuredContent).toEqual({
      answer: accept(true),
      requestState: { n: 9007199254740991 },
      round: 2,
    });
    expect(executions().map(({ name }) => name)).toEqual([`${taskId}-r1`, `${taskId}-r2`]);
  });

  test('partial answers leave the rest outstanding (E-19)', async () => {
    const taskId = await start('ask_two');
    await poll(url(), taskId, asking);
    await update(taskId, { 'r1.first': accept(true) });
    const half = await poll(url(), taskId, asking);
    expect(Object.keys(half.inputRequests)).toEqual(['r1.second']);
    await update(taskId, { 'r1.second': accept(false) });
    const done = await poll(url(), taskId, ended);
    expect(done.result.structuredContent).toEqual({ first: accept(true), second: accept(false) });
  });

  test('a question asked again has another key; the tool sees the latest answer (E-20)', async () => {
    const taskId = await start('ask_twice');
    await poll(url(), taskId, asking);
    await update(taskId, { 'r1.same': accept(true) });
    const again = await poll(url(), taskId, (task) => asking(task) && 'r2.same' in (task.inputRequests ?? {}));
    expect(Object.keys(again.inputRequests)).toEqual(['r2.same']);
    await update(taskId, { 'r1.same': accept(true), 'r2.same': accept(false) });
    expect((await poll(url(), taskId, ended)).result.structuredContent).toEqual({ last: accept(false) });
  });

  test('unknown, answered and late keys are acknowledged and ignored with any value (E-18)', async () => {
    const taskId = await start('ask_two');
    await poll(url(), taskId, asking);
    for (const answers of [{ other: 5 }, { constructor: null }, {}, { 'r9.first': accept(true) }]) {
      expect((await update(taskId, answers)).body.result.resultType).toBe('complete');
    }
    await update(taskId, { 'r1.first': accept(true) });
    await update(taskId, { 'r1.first': accept(false), 'r1.second': accept(true) });
    const done = await poll(url(), taskId, ended);
    expect(done.result.structuredContent.first).toEqual(accept(true));
    expect((await update(taskId, { 'r1.first': accept(false) })).body.result.resultType).toBe('complete');
  });

  test.each([[null], ['yes'], [5], [[]]])(
    'a malformed answer is refused by name, and nothing is stored: %o (D-25)',
    async (answer) => {
      const taskId = await start('ask');
      await poll(url(), taskId, asking);
      const { body } = await update(taskId, { 'r1.confirm': answer });
      expect(body.error).toMatchObject({ code: -32602, message: expect.stringContaining('r1.confirm') });
      expect((await poll(url(), taskId, asking)).status).toBe('input_required');
    },
  );

  test('a client that did not declare the kind is never asked (E-32)', async () => {
    const taskId = await start('ask', TASKS);
    const task = await poll(url(), taskId, asking);
    expect(task).toMatchObject({ status: 'failed', error: { data: { reason: 'InputNotSupported' } } });
  });

  test('a waiting task can be cancelled, and takes no answer any more', async () => {
    const taskId = await start('ask');
    await poll(url(), taskId, asking);
    await modernRequest(url(), 'tasks/cancel', { taskId });
    await update(taskId, { 'r1.confirm': accept(true) });
    expect((await poll(url(), taskId, ended)).status).toBe('cancelled');
    expect(
      cloud()
        .stepFunctions.executions()
        .filter(({ name }) => name.startsWith(taskId)),
    ).toHaveLength(1);
  });

  test('too much of an answer is refused with its limit', async () => {
    const { body } = await update(await start('ask'), { x: 'y'.repeat(40_000) });
    expect(body.error).toMatchObject({ code: -32602, message: expect.stringContaining('32000') });
  });
});
