import { describe, expect, test } from 'vitest';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { arnOf, asking, denied, KEY, operatorOn, T0, task } from '../../../functions/operator/operators.ts';
import { acting } from './command.ts';

const WHY = ['--stack', 'Shop', '--reason', 'INC-7'];
const id = (n: number) => `01m81rnzam${String(n).padStart(26, '0')}`;
const many = (count: number, more: Partial<TaskRecord> = {}) =>
  Array.from({ length: count }, (_, n) => task({ taskId: id(n), createdAt: T0 + n, ...more }));
const END = KEY.taskId.slice(-10);
const OWNER = ['--owner', KEY.owner];
const statuses = ({ records }: ReturnType<typeof operatorOn>, status: string) =>
  records.all().filter((record) => record.status === status).length;

describe('an act of the command', () => {
  test('needs a reason on a deployed stack; on the server of dev it has one', async () => {
    const server = operatorOn([task()]);
    await expect(acting(server, 'cancel', KEY.taskId, ...OWNER, '--stack', 'Shop')).rejects.toThrow(
      'cancel is audited: give --reason TEXT',
    );
    expect(server.did).toEqual([]);
    expect(await acting(server, 'cancel', KEY.taskId, ...OWNER)).toMatchObject({ code: 0 });
    expect(server.audited).toMatchObject([{ who: 'ann', reason: 'by hand, in dev' }]);
  });

  test('says the outcome of one task, and of many how many are done; 1 if one is not', async () => {
    const server = operatorOn(many(2));
    for (const n of [0, 1]) server.executions.put(arnOf(1, id(n)));
    const one = await acting(server, 'cancel', id(0), ...OWNER, ...WHY);
    expect(one).toEqual({ code: 0, out: `${id(0)}  Cancelled. Its run is stopped\n` });
    const both = await acting(server, 'fail', id(0), id(1), ...OWNER, ...WHY);
    expect(both.code).toBe(1);
    expect(both.out.split('\n')).toEqual([
      `${id(1)}  Failed. Its run is stopped`,
      expect.stringContaining(`${id(0)}  Nothing to fail: it is cancelled already by ann (“INC-7”)`),
      '1 done, 1 not',
      '',
    ]);
  });

  test('by the end of an id says first which task it is, but not in JSON', async () => {
    const head = `Task ${KEY.taskId}: tool, created 1 m ago, owner ${KEY.owner}\n`;
    const server = operatorOn([asking()]);
    const { out } = await acting(server, 'cancel', END, ...WHY);
    expect(out.startsWith(head)).toBe(true);
    expect(JSON.parse((await acting(server, 'cancel', END, '--json', ...WHY)).out)).toMatchObject({ succeeded: [] });
    expect((await acting(server, 'cancel', KEY.taskId, ...OWNER, ...WHY)).out).not.toContain(head);
  });

  test('by the end of an id needs no right to what clients and tools wrote', async () => {
    const { context } = operatorOn([task()]);
    const get: typeof context.reads.get = (key, payload) =>
      payload ? Promise.reject(denied()) : context.reads.get(key, false);
    const server = { context: { ...context, reads: { ...context.reads, get } } };
    expect(await acting(server, 'cancel', END, ...WHY)).toMatchObject({ code: 0 });
  });

  test('by the end of two ids acts on none of them', async () => {
    const server = operatorOn([task(), task({ taskId: `1${KEY.taskId.slice(1)}` })]);
    await expect(acting(server, 'cancel', END, ...WHY)).rejects.toThrow('2 tasks end in');
    expect(server.did).toEqual([]);
  });

  test('with --dry-run does nothing, whatever else is given', async () => {
    const server = operatorOn(many(2));
    const dry = { code: 0, out: `Would cancel 1 task. Nothing is done without --yes.\n${id(0)}\n` };
    expect(await acting(server, 'cancel', id(0), ...OWNER, '--dry-run', ...WHY)).toEqual(dry);
    expect((await acting(server, 'cancel', '--tool', 'tool', '--dry-run', '--yes', ...WHY)).out).toContain(
      'Would cancel',
    );
    expect(server.did).toEqual([]);
  });

  test('each verb does what it says', async () => {
    const server = operatorOn([task()]);
    await acting(server, 'fail', KEY.taskId, ...OWNER, ...WHY);
    expect(server.records.get(KEY.taskId)).toMatchObject({ status: 'failed', failure: 'EndedByOperator' });
    const refused = await acting(server, 'rerun', KEY.taskId, ...OWNER, ...WHY);
    expect(refused).toMatchObject({ code: 1, out: expect.stringContaining('may have had effects already') });
    server.records.set({ ...task(), status: 'failed', kept: '{}' });
    expect(await acting(server, 'rerun', KEY.taskId, ...OWNER, '--force', ...WHY)).toMatchObject({ code: 0 });
  });
});

describe('an act on all tasks that a filter finds', () => {
  test('only says what it would do, until --yes', async () => {
    const server = operatorOn(many(3));
    const dry = await acting(server, 'cancel', '--tool', 'tool', ...WHY);
    expect(dry.out).toBe(`Would cancel 3 tasks. Nothing is done without --yes.\n${[2, 1, 0].map(id).join('\n')}\n`);
    expect(JSON.parse((await acting(server, 'cancel', '--tool', 'tool', '--json', ...WHY)).out)).toEqual({
      ...{ dryRun: [2, 1, 0].map(id), more: false },
    });
    expect(server.did).toEqual([]);
    const done = await acting(server, 'cancel', '--tool', 'tool', '--yes', ...WHY);
    expect(done.out).toContain('3 done, 0 not');
    expect(statuses(server, 'cancelled')).toBe(3);
  });

  test('takes 100 of them, or --max, and says that there are more', async () => {
    const server = operatorOn(many(101));
    const dry = await acting(server, 'cancel', '--tool', 'tool', ...WHY);
    expect(dry.out).toContain('Would cancel 100 tasks, and there are more (--max)');
    await acting(server, 'cancel', '--tool', 'tool', '--yes', '--max', '2', ...WHY);
    expect(statuses(server, 'cancelled')).toBe(2);
    await expect(acting(server, 'cancel', '--tool', 'tool', '--max', '0', ...WHY)).rejects.toThrow('--max is a whole');
  });

  test('acts on 10 a second, or on --rate', async () => {
    const server = operatorOn(many(3));
    await acting(server, 'cancel', '--tool', 'tool', '--yes', ...WHY);
    expect(server.slept).toEqual([100, 100]);
    const faster = operatorOn(many(3));
    await acting(faster, 'cancel', '--tool', 'tool', '--yes', '--rate', '100', ...WHY);
    expect(faster.slept).toEqual([10, 10]);
    await expect(acting(faster, 'fail', '--tool', 'x', '--yes', '--rate', '0', ...WHY)).rejects.toThrow(
      '--rate is a whole',
    );
  });

  test('of reruns takes those that failed, unless another status is asked for', async () => {
    const ended = (['failed', 'cancelled', 'completed'] as const).map((status, n) => task({ taskId: id(n), status }));
    const server = operatorOn([...ended, task({ taskId: id(3) })]);
    const found = async (...more: string[]) =>
      JSON.parse((await acting(server, 'rerun', '--tool', 'tool', '--json', ...more, ...WHY)).out).dryRun;
    expect(await found()).toEqual([id(0)]);
    expect(await found('--status', 'cancelled')).toEqual([id(1)]);
  });

  test.each([
    [['cancel'], 'cancel takes ids of tasks, or filters such as --tool NAME'],
    [['cancel', KEY.taskId, '--tool', 'tool'], 'Give either ids or filters (--tool)'],
    [['cancel', KEY.taskId, '--tool', 'x', '--status', 'open'], 'Give either ids or filters (--tool, --status)'],
  ])('%j is refused: it could change more than was meant', async (args, message) => {
    const server = operatorOn(many(2));
    await expect(acting(server, ...args, '--yes', ...WHY)).rejects.toThrow(message);
    expect(server.did).toEqual([]);
  });

  test('an owner alone is a filter; beside ids it names whose they are', async () => {
    const server = operatorOn([...many(2), task({ owner: 'owner#other', taskId: id(9) })]);
    expect(JSON.parse((await acting(server, 'cancel', ...OWNER, '--json', ...WHY)).out).dryRun).toEqual([1, 0].map(id));
    await expect(acting(server, 'cancel', id(9), ...OWNER, ...WHY)).rejects.toThrow('of the owner');
  });
});

describe('answer', () => {
  test('takes the id of one task and values, which may hold an equals sign', async () => {
    const schema = { type: 'object', properties: { ok: { type: 'string' } } };
    const form = { method: 'elicitation/create', params: { message: '?', requestedSchema: schema } };
    const server = operatorOn([asking(['a'], { asked: JSON.stringify({ inputRequests: { a: form } }) })]);
    expect(await acting(server, 'answer', KEY.taskId, 'ok=x=y', ...OWNER, ...WHY)).toEqual({
      ...{ code: 0, out: 'Answered. Round 2 runs\n' },
    });
    expect(server.records.get(KEY.taskId)?.inputResponses?.['r1.a']).toContain('"ok":"x=y"');
    const again = await acting(server, 'answer', KEY.taskId, 'ok=x', ...OWNER, '--json', ...WHY);
    expect(again.code).toBe(1);
    expect(JSON.parse(again.out)).toMatchObject({ done: false, taskId: KEY.taskId });
  });

  test('takes a key of one character', async () => {
    const answering = acting(operatorOn([asking()]), 'answer', KEY.taskId, 'x=1', ...OWNER, ...WHY);
    await expect(answering).rejects.toThrow(/'x'/);
  });

  test.each([
    [[], 'answer takes the id of one task, and key=value'],
    [['', 'ok=yes'], 'answer takes the id of one task, and key=value'],
    [[KEY.taskId], 'answer takes the id of one task, and key=value'],
    [[KEY.taskId, 'ok'], "An answer is key=value, not 'ok'"],
    [[KEY.taskId, '=yes'], "An answer is key=value, not '=yes'"],
  ])('%j is refused', async (words, message) => {
    await expect(acting(operatorOn([asking()]), 'answer', ...words, ...OWNER, ...WHY)).rejects.toThrow(message);
  });

  test('by the end of an id says first which task it is', async () => {
    const { out } = await acting(operatorOn([asking()]), 'answer', END, 'ok=true', ...WHY);
    expect(out).toMatch(new RegExp(`^Task ${KEY.taskId}: tool, created 1 m ago`));
  });
});
