import { describe, expect, test, vi } from 'vitest';
import { limits } from '../../../../functions/tasks/limits.ts';
import { everything, form, legacyServer, legacyServerWith, RELATED, sure, two, YES } from '../support/legacy-server.ts';

/** A session with a task that asks, seen to do so by a poll. */
async function polled(...rounds: object[]) {
  const here = legacyServer(...rounds);
  const client = await here.session();
  // A client that resumes: it opened its stream before there was anything to ask.
  const [opened] = (await client.listen()).eventIds;
  const taskId = await client.create();
  const poll = async () => (await client.request('tasks/get', { taskId })).messages[0].result.status;
  expect(await poll()).toBe('input_required');
  return { ...here, client, taskId, poll, opened };
}

describe("a session's own stream", () => {
  test('asks what a poll showed; the answer works as usual (B-09, B-10, B-19, C-20, C-21)', async () => {
    const { opened, client, taskId, poll, wait } = await polled(sure);
    wait(2_000);
    const { status, headers, messages, eventIds } = await client.listen(opened);
    expect([status, headers['content-type']]).toEqual([200, 'text/event-stream']);
    expect(messages).toMatchObject([
      { method: 'elicitation/create', params: { message: 'Sure?', _meta: { [RELATED]: { taskId } } } },
    ]);
    expect(new Set(eventIds).size).toBe(2);
    expect((await client.respond(messages[0].id, YES)).status).toBe(202);
    expect(await poll()).toBe('completed');
  });

  test('begins with an event id and a retry: short at first, later 30 s (B-10)', async () => {
    const { session, wait } = legacyServer(sure);
    const client = await session();
    let eventId: string | undefined;
    const retries: unknown[] = [];
    for (const idle of [0, 20_000, 100_000, 1_000_000]) {
      wait(idle);
      const { messages, eventIds, retry } = await client.listen(eventId);
      expect([messages, eventIds.length]).toEqual([[], 1]);
      eventId = eventIds[0];
      retries.push(retry);
    }
    expect(retries).toEqual([1_000, 3_000, 18_000, 30_000]);
  });

  test('leaves the questions to tasks/result, which a poll leads to (C-20)', async () => {
    const { opened, client, taskId, poll, wait } = await polled(sure);
    expect(await client.listen(opened)).toMatchObject({ messages: [], retry: 1_000 });
    const { messages } = await client.request('tasks/result', { taskId }, async ({ id, method }) => {
      if (method === undefined) return;
      expect(await poll()).toBe('input_required');
      wait(60_000);
      expect((await client.listen(opened)).messages).toEqual([]);
      await client.respond(id, YES);
    });
    expect(messages).toHaveLength(2);
  });

  test('asks once: tasks/result repeats it in another session only (C-20, F-05)', async () => {
    const here = await polled(sure);
    here.wait(2_000);
    const first = await here.client.listen(here.opened);
    expect(first.messages).toHaveLength(1);
    expect(await here.poll()).toBe('input_required');
    here.wait(2_000);
    expect((await here.client.listen(first.eventIds.at(-1))).messages).toEqual([]);

    const other = await here.session();
    const elsewhere = await other.request('tasks/result', { taskId: here.taskId }, async ({ method }) => {
      if (method !== undefined) await here.client.respond(first.messages[0].id, YES);
    });
    expect(elsewhere.messages.map(({ method }) => method)).toEqual(['elicitation/create', undefined]);
  });

  test('tasks/result stays silent about a question that this session has on its own stream (C-20)', async () => {
    const { opened, client, taskId, wait } = await polled(sure);
    wait(2_000);
    const [question] = (await client.listen(opened)).messages;
    const { messages } = await client.request('tasks/result', { taskId });
    expect(messages).toEqual([]);
    await client.respond(question.id, YES);
    expect((await client.request('tasks/result', { taskId })).messages).toMatchObject([{ result: {} }]);
  });

  test('asks again after a while without an answer, since an answer can be lost (B-19, C-20)', async () => {
    const { opened, client, taskId, poll, wait } = await polled(sure);
    wait(2_000);
    let [eventId] = (await client.listen(opened)).eventIds.slice(-1);
    wait(61_000);
    await poll();
    expect((await client.listen(eventId)).messages).toEqual([]);
    wait(120_000);
    await poll();
    wait(2_000);
    const again = await client.listen(eventId);
    expect(again.messages).toHaveLength(1);
    [eventId] = again.eventIds.slice(-1);
    wait(61_000);
    const { messages } = await client.request('tasks/result', { taskId }, ({ id, method }) =>
      method === undefined ? undefined : client.respond(id, YES),
    );
    expect(messages.map(({ method }) => method)).toEqual(['elicitation/create', undefined]);
  });

  test('asks each of many questions once, however many tasks there are (C-22)', async () => {
    const { session, wait } = legacyServer(two);
    const client = await session();
    const taskIds = [];
    for (let i = 0; i < 60; i++) taskIds.push(await client.create());
    for (const taskId of taskIds) await client.request('tasks/get', { taskId });
    wait(2_000);
    const heard: string[] = [];
    let eventId: string | undefined;
    for (let i = 0; i < 4; i++) {
      const { messages, eventIds } = await client.listen(eventId);
      eventId = eventIds.at(-1);
      heard.push(...messages.map(({ params }) => `${params._meta[RELATED].taskId} ${params.message}`));
      for (const taskId of taskIds) await client.request('tasks/get', { taskId });
    }
    expect([heard.length, new Set(heard).size]).toEqual([120, 120]);
  });

  test('asks each of many at once also where the client does not resume its stream (C-22)', async () => {
    const here = legacyServer(sure);
    const client = await here.session();
    const tasks = await Promise.all(Array.from({ length: 60 }, () => client.create()));
    const open = () => tasks.filter((id) => here.records.get(id)?.status === 'input_required');
    const from = here.now();
    while (open().length > 0 && here.now() < from + 100_000) {
      for (const taskId of open()) await client.request('tasks/get', { taskId });
      here.wait(2_000);
      await client.listen(undefined, ({ id, method }) => method !== undefined && client.respond(id, YES));
    }
    expect(open()).toEqual([]);
  });

  test('asks what is left of several questions, and what a later round asks (C-22)', async () => {
    const { opened, client, poll, wait } = await polled(two, { third: form('Third?') });
    wait(2_000);
    const first = await client.listen(opened);
    expect(first.messages.map(({ params }) => params.message)).toEqual(['First?', 'Second?']);
    for (const { id } of first.messages) await client.respond(id, YES);
    expect(await poll()).toBe('input_required');
    wait(2_000);
    const second = await client.listen(first.eventIds.at(-1));
    expect(second.messages).toMatchObject([{ params: { message: 'Third?' } }]);
  });

  test('a client whose answers are never valid is asked five times; then the task has failed', async () => {
    const { client, taskId, poll } = await polled(sure);
    let asked = 0;
    const { messages } = await client.request('tasks/result', { taskId }, async ({ id, method }) => {
      if (method === undefined) return;
      asked++;
      await client.respond(id, { action: 'accept', content: { ok: 'perhaps' } });
    });
    expect([asked, await poll()]).toEqual([5, 'failed']);
    expect(messages.at(-1)).toMatchObject({ error: { code: -32603, data: { reason: 'AnswerInvalid' } } });
  });

  test('is offered to 2025-11-25 sessions that can be asked, and can be switched off (B-09, B-17)', async () => {
    const { session } = legacyServer(sure);
    expect((await (await session(everything)).listen()).status).toBe(200);
    expect((await (await session({})).listen()).status).toBe(405);
    expect((await (await session(everything, '2025-06-18')).listen()).status).toBe(405);
    const off = legacyServerWith({ questionStream: false }, sure);
    expect((await (await off.session(everything)).listen()).status).toBe(405);
  });
});

describe('a held call notes what it asks', () => {
  const asks = [{ method: 'elicitation/create' }];
  /** A client whose calls are held for a second. */
  async function briefly() {
    const here = legacyServerWith({ holdCap: 1_000 }, sure);
    const client = await here.session();
    const noted = vi.spyOn(here.server.store, 'updateSession');
    const result = (taskId: string) => client.request('tasks/result', { taskId });
    return { ...here, client, noted, result };
  }

  test('once in a minute, and asks again each time (B-11, C-20)', async () => {
    const { client, noted, result, wait } = await briefly();
    const taskId = await client.create();
    const first = await result(taskId);
    expect(first.messages).toMatchObject(asks);
    expect((await result(taskId)).messages).toMatchObject(asks);
    expect((await client.resume(first.eventIds[0] ?? '')).messages).toMatchObject(asks);
    expect(noted).toHaveBeenCalledTimes(1);
    wait(limits.sessionStream.silence);
    expect((await result(taskId)).messages).toMatchObject(asks);
    expect(noted).toHaveBeenCalledTimes(2);
  });

  test('of each of several tasks, also at once (B-11, C-22)', async () => {
    const { client, noted, result } = await briefly();
    // More at once might not all be noted: each has four attempts.
    const taskIds: string[] = [];
    for (let n = 0; n < 4; n++) taskIds.push(await client.create());
    const all = async () => (await Promise.all(taskIds.map(result))).map(({ messages }) => messages);
    expect(await all()).toMatchObject(taskIds.map(() => asks));
    expect(noted).toHaveBeenCalledTimes(4);
    expect(await all()).toMatchObject(taskIds.map(() => asks));
    expect(noted).toHaveBeenCalledTimes(4);
  });

  test('as one list: with too many lists it asks all the same, and notes nothing (E-29)', async () => {
    const { client, noted, result, wait } = await briefly();
    const taskId = await client.create();
    for (let n = 0; n <= limits.lists.most; n++) await client.request('tasks/list', {});
    expect((await client.request('tasks/list', {})).status).toBe(429);
    expect((await result(taskId)).messages).toMatchObject(asks);
    expect(noted).not.toHaveBeenCalled();
    wait(2 * limits.lists.window);
    expect((await result(taskId)).messages).toMatchObject(asks);
    expect(noted).toHaveBeenCalledTimes(1);
    for (let n = 1; n < limits.lists.most; n++) await client.request('tasks/list', {});
    expect((await client.request('tasks/list', {})).status).toBe(429);
  });
});
