import { describe, expect, test } from 'vitest';
import { legacySession } from '../../support/clients.ts';
import { useCloud } from '../../support/cloud.ts';

const cloud = useCloud();
const url = () => `${cloud().url}/mcp`;
const META = 'mcp-task-server/idempotencyKey';
type Session = Awaited<ReturnType<typeof legacySession>>;

/** Waits for an answer, so it is open until it is cancelled, and keeps no worker busy. */
const start = ({ request }: Session, _meta: object = {}) => request('tools/call', { name: 'ask', task: {}, _meta });
const repeat = <T>(count: number, what: () => Promise<T>) => Promise.all(Array.from({ length: count }, what));

describe('the open tasks of one caller (C-37)', () => {
  test('160 calls at once make exactly 100 open tasks; each refusal says why', async () => {
    const session = await legacySession(url());
    const answers = (await repeat(160, () => start(session))).map(({ body }) => body);
    const tasksOf = (some: typeof answers) => some.flatMap(({ result }) => result?.task.taskId ?? []);
    const busy = ({ error }: (typeof answers)[number]) => error?.data?.reason === 'Unavailable';
    // A busy machine refuses some of them: others take their slots.
    while (!answers.some(({ error }) => error !== undefined && !busy({ error })))
      answers.push((await start(session)).body);
    const taskIds = tasksOf(answers);
    for (const { error } of answers.filter((answer) => answer.result === undefined && !busy(answer))) {
      expect(error).toMatchObject({ code: -32603, data: { reason: 'TooManyOpenTasks', limit: 100 } });
      expect(error.message).toMatch(/^Too many open tasks: 100 have not ended/);
    }
    const listed: { taskId: string; status: string }[] = [];
    for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
      const page = (await session.request('tasks/list', { cursor })).body.result;
      listed.push(...page.tasks);
      cursor = page.nextCursor;
    }
    const open = listed.filter(({ status }) => status !== 'failed').map(({ taskId }) => taskId);
    expect(open.length).toBeLessThanOrEqual(100);
    // A busy machine fails some tasks, and does not answer some calls, whose tasks keep their slots for two minutes.
    if (!answers.some(busy)) {
      expect(taskIds).toEqual(expect.arrayContaining(open));
      if (listed.length === open.length) expect(open).toHaveLength(100);
    }

    const other = await legacySession(url());
    expect((await start(other)).body.result.task.status).toBe('working');
    await Promise.all(open.slice(0, 3).map((taskId) => session.request('tasks/cancel', { taskId })));
    const later = (await repeat(6, () => start(session))).map(({ body }) => body);
    if (!later.some(busy)) expect(tasksOf(later)).toHaveLength(3);
  });

  test('a call repeated by its idempotency key finds its task even when all slots are taken', async () => {
    const session = await legacySession(url());
    const key = { [META]: 'mine' };
    const repeats = (await repeat(20, () => start(session, key))).map(({ body }) => body.result.task.taskId);
    const [taskId] = repeats;
    expect(new Set(repeats).size).toBe(1);
    // At once they may have taken a slot each side of a minute, but no more than the one they need stays.
    // They come one after the other: all at once may be too much for a busy machine.
    for (let i = 0; i < 99; i++) expect((await start(session)).body.error).toBeUndefined();
    expect((await start(session)).body.error.data.reason).toBe('TooManyOpenTasks');
    expect((await start(session, key)).body.result.task.taskId).toBe(taskId);
  });
});

describe('the refused tasks of one caller (C-37)', () => {
  const refused = ({ request }: Session, _meta: object = {}) =>
    request('tools/call', { name: 'big', arguments: {}, task: {}, _meta });

  test('are 100 in a day; calls beyond them are refused with the same sentence, and store nothing', async () => {
    const session = await legacySession(url());
    const key = { [META]: 'mine' };
    const first = (await refused(session, key)).body.result.task;
    const answers = (await repeat(60, () => refused(session))).map(({ body }) => body);
    const stored = () => answers.filter(({ result }) => result?.task !== undefined).length;
    // One after the other from here on: a busy machine cannot do all at once, and what it did not answer may count.
    const unanswered = 60 - stored();
    while (answers.at(-1)?.error?.code !== -32602) answers.push((await refused(session)).body);
    expect(stored()).toBeLessThanOrEqual(99);
    expect(stored()).toBeGreaterThanOrEqual(99 - unanswered);
    const { error } = answers.at(-1) ?? {};
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("required property 'bytes'") });
    // A repeat stores nothing either, and valid calls are not counted with them.
    expect((await refused(session, key)).body.result.task.taskId).toBe(first.taskId);
    expect((await start(session)).body.result.task.status).toBe('working');
    const mark = cloud().calls.mark();
    expect((await refused(session)).body.error).toEqual(error);
    const calls = cloud().calls.since(mark);
    const ofEndpoint = calls.filter(({ service, caller }) => service === 'dynamodb' && caller.includes('Endpoint'));
    expect(ofEndpoint.map(({ operation }) => operation)).toEqual(['GetItem']);
    expect((await refused(await legacySession(url()))).body.result.task.status).toBe('working');
  });
});
