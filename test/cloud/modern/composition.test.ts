import { describe, expect, test } from 'vitest';
import { type Answer, ended, FORMS, legacySession, modernRequest, poll, TASKS } from '../../support/clients.ts';
import { useCloud } from '../../support/cloud.ts';

const cloud = useCloud();
const url = () => `${cloud().url}/mcp`;
const ada = { action: 'accept', content: { name: 'Ada' } };
const asking = ({ status }: { status: string }) => status === 'input_required' || status === 'failed';
const executions = () => cloud().stepFunctions.executions();

const call = async (name: string, more: object = {}, capabilities: object = { ...TASKS, ...FORMS }) =>
  (await modernRequest(url(), 'tools/call', { name, ...more }, { capabilities })).body;

describe('a tool that asks before its task exists (E-10)', () => {
  test('question, answer, task: it has the answer from the start, no earlier rounds (E-06, E-10)', async () => {
    const before = executions().length;
    const { result: asked } = await call('ask_first', { arguments: { a: 1 } });
    expect(asked).toEqual({
      resultType: 'input_required',
      inputRequests: { who: { method: 'elicitation/create', params: expect.objectContaining({ message: 'Who?' }) } },
      _meta: expect.anything(),
    });
    expect(executions()).toHaveLength(before);
    const { result: task } = await call('ask_first', { arguments: { a: 1 }, inputResponses: { who: ada } });
    expect(task).toMatchObject({ resultType: 'task', status: 'working' });
    for (const key of ['inputRequests', 'requestState', 'result']) expect(task).not.toHaveProperty(key);
    const done = await poll(url(), task.taskId, ended);
    expect(done.result.structuredContent).toEqual({ who: ada, round: 1 });
    expect(JSON.stringify(done)).not.toContain('requestState');
    expect(executions().map(({ name }) => name)).toContain(`${task.taskId}-r1`);
    expect(executions()).toHaveLength(before + 1);
  });

  test.each<[string, object]>([
    ['no answer', {}],
    ['another key', { 'r1.who': ada }],
    ['not what an elicitation answers', { who: {} }],
    ['an unknown action', { who: { action: 'maybe' } }],
    ['a form without its field', { who: { action: 'accept', content: {} } }],
    ['a field of another type', { who: { action: 'accept', content: { name: 5 } } }],
    ['an inherited key', { constructor: ada, __proto__: ada }],
  ])('is asked again, and makes no task: %s (D-25, D-34, E-10)', async (_what, inputResponses) => {
    const before = executions().length;
    const { result } = await call('ask_first', { inputResponses });
    expect(result).toMatchObject({ resultType: 'input_required', inputRequests: { who: expect.anything() } });
    expect(result).not.toHaveProperty('taskId');
    expect(executions()).toHaveLength(before);
  });

  test.each<unknown>([5, null, [], { who: 5 }, { who: null }, { who: 'Ada' }])(
    'refuses what is not an answer: %o (D-25)',
    async (inputResponses) => {
      expect((await call('ask_first', { inputResponses })).error.code).toBe(-32602);
    },
  );

  test.each([{ action: 'decline' }, { action: 'cancel' }, { action: 'accept', content: { name: 'Ada', more: true } }])(
    'any answer will do, and more than was asked: %o (D-24, D-34)',
    async (who) => {
      const { result } = await call('ask_first', { inputResponses: { who, extra: { ignored: true } } });
      expect((await poll(url(), result.taskId, ended)).result.structuredContent).toEqual({ who, round: 1 });
    },
  );

  test('asks only clients that declared it, runs only for those with tasks (D-10, D-22, E-04)', async () => {
    const inputResponses = { who: ada };
    for (const more of [{}, { inputResponses }]) {
      expect((await call('ask_first', more, TASKS)).error).toMatchObject({
        code: -32021,
        data: { requiredCapabilities: { elicitation: {} } },
      });
      expect((await call('ask_first', more, FORMS)).error).toMatchObject({
        code: -32021,
        data: { requiredCapabilities: TASKS },
      });
    }
  });

  test('state that the server never gave is refused, though the round has none (D-23)', async () => {
    const { error } = await call('ask_first', { requestState: 'mine', inputResponses: { who: ada } });
    expect(error.code).toBe(-32602);
  });

  test('a 2025-11-25 client is asked within the task instead; its answer starts the work (F-05)', async () => {
    const session = await legacySession(url());
    const made = await session.request('tools/call', { name: 'ask_first', task: {} });
    const { taskId } = made.body.result.task;
    const task = await poll(url(), taskId, asking);
    expect(Object.keys(task.inputRequests)).toEqual(['r1.who']);
    await modernRequest(url(), 'tasks/update', { taskId, inputResponses: { 'r1.who': ada } });
    const done = await poll(url(), taskId, ended);
    expect(done.result.structuredContent).toEqual({ who: ada, round: 2 });
  });
});

describe('tasks/update', () => {
  async function waiting(name: string): Promise<string> {
    const { result } = await call(name);
    await poll(url(), result.taskId, asking);
    return result.taskId;
  }
  const update = async (taskId: string, inputResponses: object): Promise<Answer['body']> =>
    (await modernRequest(url(), 'tasks/update', { taskId, inputResponses })).body;
  const open = async (taskId: string) =>
    Object.keys((await modernRequest(url(), 'tasks/get', { taskId })).body.result.inputRequests);

  test.each<[string, object, string]>([
    ['no action', {}, 'action'],
    ['an unknown action', { action: 'yes' }, 'action'],
    ['a form without content', { action: 'accept' }, "content['ok']"],
    ['a form without its field', { action: 'accept', content: { other: true } }, "content['ok']"],
    ['a field of another type', { action: 'accept', content: { ok: 'true' } }, "content['ok']"],
    ['content that is not an object', { action: 'accept', content: ['ok'] }, 'content'],
  ])(
    'an answer that breaks the form is refused by name, and nothing is stored: %s (D-34, E-18)',
    async (_what, answer, field) => {
      const taskId = await waiting('ask_two');
      const good = { action: 'accept', content: { ok: true } };
      const { error } = await update(taskId, { 'r1.first': good, 'r1.second': answer });
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("inputResponses['r1.second']") });
      expect(error.message).toContain(field);
      expect(await open(taskId)).toEqual(['r1.first', 'r1.second']);
      expect((await update(taskId, { 'r1.first': good, 'r1.second': { action: 'decline' } })).result).toBeDefined();
      const { result } = await poll(url(), taskId, ended);
      expect(result.structuredContent).toEqual({ first: good, second: { action: 'decline' } });
    },
  );

  test('other keys with any value are ignored, also beside a good answer (E-17, E-18)', async () => {
    const taskId = await waiting('ask');
    const others = { confirm: 5, 'r2.confirm': null, 'r1.confirm ': {}, '': [], constructor: 'x' };
    for (const keys of [others, JSON.parse('{"__proto__":{"r1.confirm":{"action":"accept"}}}')]) {
      expect(Object.keys((await update(taskId, keys)).result).sort()).toEqual(['_meta', 'resultType']);
    }
    expect(await open(taskId)).toEqual(['r1.confirm']);
    const ack = await update(taskId, { ...others, 'r1.confirm': { action: 'cancel' } });
    expect(Object.keys(ack.result).sort()).toEqual(['_meta', 'resultType']);
    const { result } = await poll(url(), taskId, ended);
    expect(result.structuredContent).toMatchObject({ answer: { action: 'cancel' } });
  });

  test('partial answers leave the rest outstanding (E-19)', async () => {
    const taskId = await waiting('ask_two');
    const [yes, no] = [true, false].map((ok) => ({ action: 'accept', content: { ok } }));
    await update(taskId, { 'r1.first': yes });
    expect(await open(taskId)).toEqual(['r1.second']);
    await update(taskId, { 'r1.second': no });
    expect((await poll(url(), taskId, ended)).result.structuredContent).toEqual({ first: yes, second: no });
  });

  test.each([[null], ['yes'], [5], [[]]])(
    'a malformed answer is refused by name, and nothing is stored: %o (D-25)',
    async (answer) => {
      const taskId = await waiting('ask');
      const { error } = await update(taskId, { 'r1.confirm': answer });
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('r1.confirm') });
      expect(await open(taskId)).toEqual(['r1.confirm']);
    },
  );

  test('a client that did not declare the kind is never asked (E-32)', async () => {
    const { result } = await call('ask', {}, TASKS);
    expect(await poll(url(), result.taskId, asking)).toMatchObject({
      ...{ status: 'failed', error: { data: { reason: 'InputNotSupported' } } },
    });
  });

  test('too much of an answer is refused with its limit', async () => {
    const { error } = await update((await call('ask')).result.taskId, { x: 'y'.repeat(40_000) });
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('32000') });
  });
});

describe('a tool that breaks its outputSchema (A-19)', () => {
  const text = 'Tool broken_promise returned structured content that does not fit its outputSchema';

  test('as a task: an error result in both eras, however it is read (A-19, F-06)', async () => {
    const session = await legacySession(url());
    const made = await session.request('tools/call', { name: 'broken_promise', task: {} });
    const { taskId } = made.body.result.task;
    const modern = await poll(url(), taskId, ended);
    expect(modern).toMatchObject({ status: 'completed', result: { isError: true, content: [{ text }] } });
    expect(modern.result).not.toHaveProperty('structuredContent');
    const { result: task } = (await session.request('tasks/get', { taskId })).body;
    expect(task).toMatchObject({ status: 'failed', statusMessage: text });
    const { tasks } = (await session.request('tasks/list')).body.result;
    expect(tasks).toEqual([expect.objectContaining({ taskId, status: 'failed' })]);
    const { result } = (await session.request('tasks/result', { taskId })).body;
    expect(result).toMatchObject({ isError: true, content: [{ text }] });
    expect(result).not.toHaveProperty('structuredContent');
  });

  test('called without a task, in 2025-11-25, too (A-19)', async () => {
    const session = await legacySession(url());
    const { result } = (await session.request('tools/call', { name: 'broken_promise' })).body;
    expect(result).toEqual({ content: [{ type: 'text', text }], isError: true });
  });
});
