import { describe, expect, test } from 'vitest';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { ann, asking, EXPRESS_TOOL, KEY, MINUTE, operatorOn, T0, task } from '../../functions/operator/operators.ts';
import { fakeClient } from '../../support/aws-client.ts';
import { consoleOf } from './in-memory.ts';

const NAMED = `id=${KEY.taskId}&owner=${encodeURIComponent(KEY.owner)}`;
const pageOf = (server: ReturnType<typeof operatorOn>, local = true, options = '') =>
  consoleOf(async () => server.context, local, options);
const read = async (server: ReturnType<typeof operatorOn>, path: string, local = true, options = '') =>
  (await (await pageOf(server, local, options)).get(`api/${path}`)).json();
/** What the run of the task reported last. */
const reporting = (server: ReturnType<typeof operatorOn>, message: string) => {
  const of = (payload: boolean) => ({
    ...{ round: 1, updatedAt: T0, progress: 1, progressTotal: 2 },
    ...(payload && { statusMessage: message }),
  });
  const reads = {
    ...server.context.reads,
    progress: async (_key: unknown, payload: boolean) => of(payload),
    progressOfMany: async (_keys: unknown, payload: boolean) => new Map([[KEY.taskId, of(payload)]]),
  };
  return { ...server, context: { ...server.context, reads } };
};

describe('the page reads', () => {
  test('the server, its tools that run as tasks, and how often to read', async () => {
    const { context, ...server } = operatorOn();
    const tools = new Map([...context.server.tools, ['direct', { repeatable: true, timeout: 1 }] as const]);
    const all = {
      ...server,
      context: { ...context, server: { ...context.server, tools: new Map([['z', EXPRESS_TOOL as never], ...tools]) } },
    };
    expect(await read(all, 'server')).toEqual({
      ...{ name: 'Shop/Server', region: 'eu-west-1', local: true, pause: 1_000, tools: ['tool', 'z'] },
    });
    expect(await read(all, 'server', false)).toMatchObject({ local: false, pause: 3_000 });
  });

  test('a list, with what is worth knowing of each task', async () => {
    const row = async (more: Partial<TaskRecord> = {}) =>
      (await read(operatorOn([task(more)]), 'tasks?status=all')).tasks[0];
    const facts = { taskId: KEY.taskId, owner: KEY.owner, tool: 'tool', createdAt: T0 };
    const endsBy = task().deadlineAt + 30_000;
    expect(await row()).toEqual({ ...facts, status: 'working', endsBy, note: '' });
    expect(await row({ status: 'completed', isError: true })).toEqual({
      ...{ ...facts, status: 'completed', isError: true, note: 'the tool returned an error' },
    });
    expect(await row({ deadlineAt: T0 })).toMatchObject({
      seenAs: 'failed',
      endsBy: T0 + 30_000,
      note: 'readers see failed',
    });
    expect(await row({ ttl: 1 })).toMatchObject({ seenAs: 'gone', note: 'past its ttl' });
    expect(await row({ version: 99 })).toEqual({ ...facts, status: 'working', note: 'of another release' });
  });

  test('a list by filters and from a cursor; an empty cursor is none', async () => {
    const many = Array.from({ length: 51 }, (_, n) => task({ taskId: String(n).padStart(36, '0'), createdAt: T0 + n }));
    const server = operatorOn(many);
    const first = await read(server, 'tasks?status=open&tool=tool&cursor=');
    expect([first.tasks.length, first.now]).toEqual([50, T0 + MINUTE]);
    expect((await read(server, `tasks?status=open&tool=tool&cursor=${first.cursor}`)).tasks).toHaveLength(1);
    expect((await read(server, 'tasks?tool=other')).tasks).toEqual([]);
    expect(await read(server, 'tasks?status=nope')).toMatchObject({
      error: expect.stringContaining('--status is open'),
    });
  });

  test('what tasks report, with the message in dev only', async () => {
    const server = reporting(operatorOn([task()]), 'secret');
    const progress = { at: T0, done: 1, of: 2 };
    expect((await read(server, 'tasks')).tasks[0].progress).toEqual({ ...progress, message: 'secret' });
    expect((await read(server, 'tasks', false)).tasks[0].progress).toEqual(progress);
    expect((await read(server, `task?${NAMED}`)).story.progress).toEqual({ ...progress, message: 'secret' });
    expect((await read(server, `task?${NAMED}`, false)).story.progress).toEqual(progress);
    expect((await read(operatorOn([asking()]), `task?${NAMED}`)).story).not.toHaveProperty('progress');
  });

  test('one task: its story, its times, and why, with commands that name the server', async () => {
    const told = await read(operatorOn([asking()]), `task?${NAMED}`, true, ' --stack Shop');
    expect(told).toMatchObject({
      ...{ now: T0 + MINUTE, story: { taskId: KEY.taskId }, timeline: { open: true } },
      explanation: {
        cause: 'asks, and gets no answer',
        next: [
          `mcp-task-server tasks show ${KEY.taskId} --payload --stack Shop`,
          `mcp-task-server tasks answer ${KEY.taskId} key=value --reason TEXT --stack Shop`,
        ],
      },
    });
    expect(JSON.stringify(told)).not.toContain('requestedSchema');
    const other = await read(operatorOn([{ ...task(), version: 99 }]), `task?${NAMED}`);
    expect(other).toMatchObject({
      story: { unreadable: true },
      explanation: { next: [expect.not.stringContaining('--stack')] },
    });
    expect(other).not.toHaveProperty('timeline');
  });

  test('the result for the explanation only where the payload is asked for', async () => {
    const tool = { outputSchema: { type: 'object' }, outputSchemaId: 's' };
    const server = operatorOn([task({ status: 'completed', result: '1', outputSchemaId: 's' })], tool);
    expect((await read(server, `task?${NAMED}`)).explanation.cause).toBe('completed');
    expect((await read(server, `task?${NAMED}&payload=yes`)).explanation.cause).toBe('result does not fit its schema');
  });

  test('the payload of one task, and none of another release', async () => {
    expect(await read(operatorOn([task({ kept: '{"n":1}' })]), `payload?${NAMED}`)).toEqual({ arguments: { n: 1 } });
    const other = await read(operatorOn([{ ...task(), version: 99 }]), `payload?${NAMED}`);
    expect(other.error).toContain('its payload is unknown');
  });

  test('the latest 300 log lines in dev, and no log lines of a deployed server', async () => {
    const logged = (count: number) => {
      const events = Array.from({ length: count }, (_, n) => ({ timestamp: n, message: `line ${n}` }));
      return operatorOn([task()], { logGroup: '/tool' }, { logs: fakeClient<never>(async () => ({ events })) });
    };
    const { lines, hidden } = await read(logged(301), `logs?${NAMED}`);
    expect([lines.length, lines[0].text, hidden]).toEqual([300, 'line 1', ['1 older lines']]);
    expect(await read(logged(300), `logs?${NAMED}`)).toMatchObject({ lines: { length: 300 }, hidden: [] });
    expect((await read(logged(1), `logs?${NAMED}`, false)).error).toContain('in dev only');
  });

  test.each(['task', 'task?id=', 'task?id=zzzzzzzzzz', `task?id=${KEY.taskId}&owner=owner%23other`])(
    '%s names no task',
    async (path) => {
      const { error } = await read(operatorOn([task()]), path);
      expect(error).toMatch(/=[z0]/.test(path) ? /^No task/ : /^Which task\? Give its id$/);
    },
  );
});

describe('the page acts', () => {
  const who = { id: KEY.taskId, owner: KEY.owner };

  test('in dev without a reason, on a deployed server with one only', async () => {
    const dev = operatorOn([task()]);
    expect((await (await pageOf(dev)).post('cancel', who)).json()).toMatchObject({ done: true });
    expect(dev.audited).toMatchObject([{ act: 'cancel', who: 'ann', reason: 'by hand, in dev' }]);
    const deployed = operatorOn([task()]);
    const { post } = await pageOf(deployed, false);
    for (const route of ['cancel', 'rerun', 'answer']) {
      const refused = await post(route, { ...who, reason: ' ' });
      expect([refused.status, refused.json().error]).toEqual([400, 'Every act is audited: give a reason']);
    }
    expect(deployed.did).toEqual([]);
    expect((await post('cancel', { ...who, reason: ' INC-7 ' })).json()).toMatchObject({ done: true });
    expect(deployed.audited).toMatchObject([{ ...ann, done: true }]);
  });

  test('answers each question by its key, as a client does', async () => {
    const server = operatorOn([asking()]);
    const { post } = await pageOf(server);
    expect((await post('answer', who)).json().error).toBe('No answer is given: key=value');
    const answers = { 'r1.a': { action: 'accept', content: { ok: true } } };
    expect((await post('answer', { ...who, answers })).json()).toMatchObject({ message: 'Answered. Round 2 runs' });
  });

  test('runs a task again, but never with force', async () => {
    const server = operatorOn([task({ status: 'completed', kept: '{}' })]);
    const { post } = await pageOf(server);
    expect((await post('rerun', { ...who, force: true })).json()).toMatchObject({ done: false });
    expect(server.did).toEqual([]);
  });

  test('on no task of another owner', async () => {
    const server = operatorOn([task()]);
    const { post } = await pageOf(server);
    expect((await post('cancel', { ...who, owner: 'owner#other' })).json().error).toContain('No task');
    expect((await post('cancel', { id: 7 })).json().error).toBe('Which task? Give its id');
    expect(server.did).toEqual([]);
  });

  test.each(['', 7])('by the id alone, if the owner is %j', async (owner) => {
    const { post } = await pageOf(operatorOn([task()]));
    expect((await post('cancel', { id: KEY.taskId, owner })).json()).toMatchObject({ done: true });
  });
});
