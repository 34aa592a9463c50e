import { setImmediate } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { limits } from '../../../../functions/tasks/limits.ts';
import { form, legacyServer, legacyServerWith, sure, two, YES } from '../support/legacy-server.ts';

type LegacyServer = ReturnType<typeof legacyServer>;

/** A session with a task that asks, as a poll has shown it. */
async function asking(here: LegacyServer) {
  const client = await here.session();
  const taskId = await client.create();
  const poll = async () => (await client.request('tasks/get', { taskId })).messages[0].result.status;
  expect(await poll()).toBe('input_required');
  return { client, taskId, poll };
}

/**
 * Listens as mcp-go does: never with an event id, again a second after each end, and a person's answer is lost if the
 * stream that brought the question has ended. Answers how often each question was asked, and how many calls that took.
 */
async function listen(
  here: LegacyServer,
  client: Awaited<ReturnType<LegacyServer['session']>>,
  thinks: number,
  forMs: number,
) {
  const asked: unknown[] = [];
  const people: Promise<unknown>[] = [];
  const until = here.now() + forMs;
  let calls = 0;
  for (; here.now() < until; here.wait(1_000)) {
    let open = true;
    calls++;
    const person = async (id: unknown) => {
      const at = here.now() + thinks;
      while (here.now() < at) await setImmediate();
      if (open) await client.respond(id, YES);
    };
    await client.listen(undefined, ({ id }) => {
      asked.push(id);
      people.push(person(id));
    });
    open = false;
  }
  here.wait(thinks);
  await Promise.all(people);
  return { asked, calls };
}

describe('a client that listens on and on and never resumes, as mcp-go does', () => {
  test('asks once a person who takes 10 s, and the answer arrives (B-09, B-19)', async () => {
    const here = legacyServer(sure);
    const { client, poll } = await asking(here);
    const { asked } = await listen(here, client, 10_000, 60_000);
    expect(asked).toHaveLength(1);
    expect(await poll()).toBe('completed');
  });

  test('is held only for as long as a question is open, and at most for holdCap (B-09)', async () => {
    const here = legacyServerWith({ holdCap: 20_000 }, sure);
    const { client } = await asking(here);
    here.wait(2_000);
    const begun = here.now();
    await client.listen(undefined);
    expect(here.now() - begun).toBe(20_000);

    const quick = legacyServer(sure);
    const other = await asking(quick);
    quick.wait(2_000);
    const since = quick.now();
    await other.client.listen(undefined, ({ id }) => other.client.respond(id, YES));
    expect(quick.now() - since).toBeLessThan(5_000);
  });

  test('is counted while it is held; one stream too many is asked, and not held (C-37, B-10)', async () => {
    const counted: string[] = [];
    const here = legacyServer(sure);
    const { store } = here.server;
    store.openStream = async (owner) => {
      counted.push('open');
      return { owner, window: 0 };
    };
    store.closeStream = async () => void counted.push('close');
    const { client } = await asking(here);
    await client.listen();
    expect(counted).toEqual([]);
    here.wait(2_000);
    const { messages } = await client.listen(undefined, ({ id }) => client.respond(id, YES));
    expect([messages.length, counted]).toEqual([1, ['open', 'close']]);

    const full = legacyServer(sure);
    full.server.store.openStream = async () => undefined;
    const other = await asking(full);
    full.wait(2_000);
    const begun = full.now();
    const { messages: asked, retry } = await other.client.listen();
    expect([asked.length, retry, full.now() - begun]).toEqual([1, 1_000, 50]);
    await other.client.respond(asked[0].id, YES);
    expect(await other.poll()).toBe('completed');
  });

  test('a person who never answers is asked at most every 30 s, by the same id (B-11, B-19)', async () => {
    for (const holdCap of [1_000, 50_000]) {
      const here = legacyServerWith({ holdCap }, sure);
      const { client } = await asking(here);
      const { asked } = await listen(here, client, 3_600_000, 150_000);
      expect(asked.length).toBeGreaterThan(1);
      expect(asked.length).toBeLessThanOrEqual(5);
      expect(new Set(asked).size).toBe(1);
    }
  });

  test('gets the questions of a later round on the stream that is held (C-22)', async () => {
    const here = legacyServer(two, { third: form('Third?') });
    const { client, poll } = await asking(here);
    here.wait(2_000);
    const heard: string[] = [];
    await client.listen(undefined, async ({ id, params }) => {
      heard.push(params.message);
      await client.respond(id, YES);
      if (heard.length === 2) expect(await poll()).toBe('input_required');
    });
    expect(heard).toEqual(['First?', 'Second?', 'Third?']);
    expect(await poll()).toBe('completed');
  });

  test('two streams at once ask what there is to ask once (B-11)', async () => {
    const here = legacyServer(sure);
    const { client } = await asking(here);
    here.wait(2_000);
    const both = await Promise.all([client.listen(), client.listen()]);
    expect(both.flatMap(({ messages }) => messages)).toHaveLength(1);
  });

  test('gets growing retry times while no question is open, even without an event id (B-10)', async () => {
    const here = legacyServer(sure);
    const client = await here.session();
    let calls = 0;
    // Two hours of a client that does as `retry` says.
    for (const until = here.now() + 7_200_000; here.now() < until; calls++) {
      const { retry = 0, messages } = await client.listen();
      expect(messages).toEqual([]);
      here.wait(retry);
    }
    expect(calls).toBeLessThan(300);
  });
});

describe('ids that a client carries', () => {
  test('event ids and question ids have at most 120 characters for a plain task id (B-11, B-19)', async () => {
    const here = legacyServerWith({ auth: 'iam' }, sure);
    const client = await here.session();
    const [opened = ''] = (await client.listen()).eventIds;
    const taskId = await client.create();
    expect(taskId).toHaveLength(36);
    await client.request('tasks/get', { taskId });
    here.wait(2_000);
    const get = await client.listen(opened);
    here.wait(61_000);
    const post = await client.request('tasks/result', { taskId });
    const call = await client.request('tools/call', { name: 'optional', _meta: { progressToken: 12 } });
    const ids = [get, post, call].flatMap(({ messages, eventIds }) => [...eventIds, ...messages.map(({ id }) => id)]);
    expect(ids).toHaveLength(11);
    for (const id of [opened, ...ids]) {
      expect(id.length, id).toBeLessThanOrEqual(120);
      expect(id).toMatch(/^[\x21-\x7e]+$/);
    }
  });

  test.each(['q', 'käse 🧀 "~.', '\ud800', '', 7, -1])('a request id of %j comes back unchanged (A-04)', async (id) => {
    const here = legacyServer(sure);
    const client = await here.session();
    const taskId = await client.create();
    const first = await client.post({ jsonrpc: '2.0', id, method: 'tasks/result', params: { taskId } });
    await client.respond(first.messages[0].id, YES);
    const { messages } = await client.resume(first.eventIds.at(-1) ?? '');
    expect(messages).toMatchObject([{ id, result: {} }]);
  });
});

test('a client that comes back in a loop gets a time to wait, and nothing is read (B-10, E-29)', async () => {
  const here = legacyServer(sure);
  const { client } = await asking(here);
  const [first = ''] = (await client.listen(undefined)).eventIds;
  const read = vi.spyOn(here.server.store, 'session');
  for (let n = 0; n < limits.lists.most; n++) await client.listen(first);
  read.mockClear();
  const { status, retry, messages, eventIds } = await client.listen(first);
  expect([status, retry, messages]).toEqual([200, 5_000, []]);
  expect(read).not.toHaveBeenCalled();
  here.wait(2 * limits.lists.window);
  await client.listen(eventIds[0]);
  expect(read).toHaveBeenCalled();
});
