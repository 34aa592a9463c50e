import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { signalMac, signalPlace, signalUrl } from '../../../../functions/tasks/waits/signal-url.ts';
import { elicitForm, elicitUrl, sample, type Task, type ToolEvent } from '../../../../functions/tool/index.ts';
import { event, onStandard, sharedTable, toolOf } from '../journal/support.ts';
import { DAY, MINUTE, NOON, waitingTask } from './support.ts';

const ask = elicitForm('Buy it for 900?', { ok: { type: 'boolean' } });
const place = { url: 'https://mcp.example/signals', key: 'k' };
const accepted = { action: 'accept', content: { ok: true }, by: 'Ann', at: NOON } as const;
const UNTIL = NOON + 3 * DAY;
const within = { days: 3 };

/** A task whose server knows its own URL. */
const signalled = (run: (task: Task) => unknown) => {
  const { next, ...rest } = waitingTask(run);
  return {
    ...rest,
    next: (signals?: ToolEvent['signals']) => next({ ...(signals && { signals }) }, { signals: place }),
  };
};
const approves = async (task: Task) => {
  const approval = await task.link('approval', ask, { within });
  await task.step('mail', () => approval.url);
  return approval.answer();
};
const trains = async (task: Task) => (await task.webhook('trained', { within })).received();
const refused = (text: string) => ({ result: { isError: true, content: [{ text: expect.stringContaining(text) }] } });

describe('a link', () => {
  test('is stored before its URL is given away, and ends the round until it has an answer', async () => {
    const { next, table, clock } = signalled(approves);
    const waits = { approval: { kind: 'link', until: UNTIL } };
    expect(await next()).toEqual({ requestState: { variables: {} }, waits });
    expect(table.calls).toEqual([`place ${signalPlace('k')}`, 'write approval', 'write mail']);
    expect(JSON.parse(table.stored.approval?.value ?? '')).toEqual({ kind: 'link', until: UNTIL, question: ask });
    expect(JSON.parse(table.stored.mail?.value ?? '')).toBe(signalUrl(place, 'approval'));
    clock.time += DAY;
    expect(await next()).toMatchObject({ waits });
    expect(await next({ approval: accepted })).toEqual({ result: accepted });
  });

  test.each([
    ['an answer that came early', accepted, accepted],
    ['a decline', { action: 'decline', at: NOON }, { action: 'decline', at: NOON }],
    ['the end of its time', { timedOut: true }, { timedOut: true }],
  ] as const)('returns %s at once', async (_what, signal, expected) => {
    expect(await signalled(approves).next({ approval: signal })).toEqual({ result: expected });
  });

  test('has content, if its form has no required fields and its answer has none', async () => {
    const optional = elicitForm('Why?', { why: { type: 'string' } }, ['why']);
    const { next } = signalled(async (task) => (await task.link('why', optional, { within })).answer());
    expect(await next({ why: { action: 'accept', at: 1 } })).toEqual({
      result: { action: 'accept', content: {}, at: 1 },
    });
  });

  test('takes an answer that does not fit as none, until its time is over', async () => {
    const { next, clock } = signalled(approves);
    for (const wrong of [
      { ...accepted, content: { ok: 'yes' } },
      { body: accepted, at: NOON },
    ]) {
      expect(await next({ approval: wrong })).toMatchObject({ waits: { approval: { kind: 'link', until: UNTIL } } });
    }
    clock.time = UNTIL;
    expect(await next({ approval: { ...accepted, content: {} } })).toEqual({ result: { timedOut: true } });
  });

  test('keeps the question that the page has shown, whatever a later version of the tool asks', async () => {
    let asks = ask;
    const { next } = signalled(async (task) => (await task.link('approval', asks, { within })).answer());
    await next();
    asks = elicitForm('Now?', { when: { type: 'string' } }) as never;
    expect(await next({ approval: accepted })).toEqual({ result: accepted });
  });

  test('is not over before the server says so: an answer may be on its way', async () => {
    const { next, clock } = signalled(approves);
    await next();
    clock.time = UNTIL + MINUTE;
    expect(await next()).toMatchObject({ waits: { approval: { kind: 'link', until: UNTIL } } });
  });

  test.each(['__proto__', 'constructor', 'a/b?c', '..', '🔑'])('may have any name: %s', async (name) => {
    const { next } = signalled(async (task) => (await task.link(name, ask, { within })).answer());
    expect(Object.keys((await next()).waits ?? {})).toEqual([name]);
    expect(await next(JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(accepted)}}`))).toEqual({
      result: accepted,
    });
  });

  test.each([
    ['a page', elicitUrl('Log in', 'https://a.example')],
    ['a prompt', sample('A poem', 5)],
    ['nothing', undefined],
  ])('asks by a form, and not by %s', async (_what, question) => {
    const { next, table } = signalled((task) => task.link('approval', question as never, { within }));
    expect(await next()).toMatchObject(refused("Link 'approval' asks by a form: make its question by elicitForm"));
    expect(table.steps()).toEqual([]);
  });

  test('can be given to the client by URL elicitation, and is answered on the same page', async () => {
    const { next } = signalled(async (task) => {
      const approval = await task.link('approval', ask, { within });
      const [{ open }, answer] = await Promise.all([
        task.requireInput({ open: elicitUrl('Please approve', approval.url) }),
        approval.answer(),
      ]);
      return [open.action, answer.by];
    });
    expect(await next()).toMatchObject({
      inputRequests: { open: { params: { mode: 'url', url: signalUrl(place, 'approval') } } },
      waits: { approval: { kind: 'link', until: UNTIL } },
    });
  });
});

describe('a webhook', () => {
  test('ends the round until something is sent, any JSON', async () => {
    const { next, table } = signalled(trains);
    expect(await next()).toMatchObject({ waits: { trained: { kind: 'webhook', until: UNTIL } } });
    expect(table.stored.trained?.value).toBe(JSON.stringify({ kind: 'webhook', until: UNTIL }));
    expect(await next({ trained: { body: null, at: 7 } })).toEqual({ result: { body: null, at: 7 } });
    expect(await next({ trained: { timedOut: true } })).toEqual({ result: { timedOut: true } });
  });

  test('has a URL that no other wait of the task has, and no other task', async () => {
    const { next } = signalled(async (task) => [
      (await task.webhook('a', { within })).url,
      (await task.webhook('b', { within })).url,
    ]);
    expect(await next()).toEqual({ result: [signalUrl(place, 'a'), signalUrl(place, 'b')] });
    expect(new Set([signalMac('k', 'a'), signalMac('k', 'b'), signalMac('l', 'a')]).size).toBe(3);
  });

  test.each([
    ['a JSON Schema', { type: 'object', properties: { n: { type: 'number' } } } as const, { n: 1 }],
    ['a schema of a library', z.object({ n: z.number() }), { n: 1 }],
  ])('stores %s, for the server to check what is sent', async (_what, schema, body) => {
    const { next, table } = signalled(async (task) => (await task.webhook('w', { within, schema })).received());
    await next();
    expect(JSON.parse(table.stored.w?.value ?? '').schema).toMatchObject({ properties: { n: { type: 'number' } } });
    expect(await next({ w: { body, at: 1 } })).toEqual({ result: { body, at: 1 } });
  });

  test('of a library changes what was sent, and refuses what only the library can check', async () => {
    const schema = z.object({ day: z.iso.date().transform((day) => new Date(day)) });
    const { next } = signalled(async (task) => {
      const { body } = await (await task.webhook('w', { within, schema })).received();
      return body?.day.getTime();
    });
    expect(await next({ w: { body: { day: '2027-01-01' }, at: 1 } })).toEqual({ result: Date.UTC(2027, 0, 1) });
    expect(await next({ w: { body: { day: 'x' }, at: 1 } })).toMatchObject(
      refused("Webhook 'w' got what does not fit its schema: day: "),
    );
  });

  test('takes no answer for a body', async () => {
    expect(await signalled(trains).next({ trained: accepted })).toHaveProperty('waits');
  });
});

test('links, webhooks and a sleep that are awaited together end one round', async () => {
  const { next } = signalled(async (task) => {
    const [a, b] = [await task.link('a', ask, { within }), await task.webhook('b', { within: { days: 1 } })];
    return Promise.all([a.answer(), b.received(), task.sleep('c', { hours: 2 })]);
  });
  expect((await next()).waits).toEqual({
    a: { kind: 'link', until: UNTIL },
    b: { kind: 'webhook', until: NOON + DAY },
    c: { kind: 'time', until: NOON + 120 * MINUTE },
  });
});

describe('what a link or webhook refuses', () => {
  const both = [approves, trains] as const;

  test('a call without a task, or a workflow that takes no envelope', async () => {
    for (const run of both) {
      for (const task of [undefined, { ...onStandard, signals: place }]) {
        expect({ result: await toolOf(run).runWith(event(task), sharedTable().context) }).toMatchObject(
          refused('needs a task: call the tool as a task'),
        );
      }
    }
  });

  test('a task that has no URL of the server', async () => {
    for (const run of both) {
      expect(await waitingTask(run).next()).toMatchObject(refused('needs a URL of the server'));
    }
  });

  test.each([
    [{ days: 31 }, 'ends after the deadline of its task, 2027-01-31T12:00:00.000Z'],
    [{ days: -1 }, 'days is a number from 0 on'],
    [undefined, 'give days, hours, minutes or seconds'],
  ])('the time %j', async (wrong, message) => {
    const { next, table } = signalled((task) => task.link('approval', ask, { within: wrong as object }));
    expect(await next()).toMatchObject(refused(`Link 'approval'`));
    expect(await next()).toMatchObject(refused(message));
    expect(table.steps()).toEqual([]);
  });

  test('the name of another wait', async () => {
    const twice = async (task: Task) => {
      await task.link('w', ask, { within });
      await task.webhook('w', { within });
    };
    await expect(signalled(twice).next()).rejects.toThrow("Webhook 'w' comes twice in one run");
    let first = true;
    const { next } = signalled(async (task) =>
      first ? task.link('w', ask, { within }) : task.webhook('w', { within }),
    );
    await next();
    first = false;
    await expect(next()).rejects.toThrow("Webhook 'w' was another kind of wait in an earlier run");
  });
});

describe('a run that dies', () => {
  test('between link and mail keeps the link, and its time', async () => {
    const { next, clock } = signalled(approves);
    await next();
    clock.time += DAY;
    expect((await next()).waits).toEqual({ approval: { kind: 'link', until: UNTIL } });
  });

  test('beside another run of its round has the same URL and time', async () => {
    const { next, clock } = signalled(async (task) => {
      const link = await task.link('approval', ask, { within });
      return [link.url, link.until];
    });
    const first = next();
    clock.time++;
    expect(await next()).toEqual(await first);
  });
});

test('answers and bodies have the types of their questions and schemas', () => {
  const schema = { type: 'object', properties: { model: { type: 'string' } }, required: ['model'] } as const;
  toolOf(async (task) => {
    const approval = await task.link('approval', ask, { within });
    const { timedOut, action, content, by, at } = await approval.answer();
    expectTypeOf(timedOut).toEqualTypeOf<true | undefined>();
    expectTypeOf(action).toEqualTypeOf<'accept' | 'decline' | 'cancel' | undefined>();
    if (action === 'accept') expectTypeOf(content.ok).toEqualTypeOf<boolean>();
    expectTypeOf(by).toEqualTypeOf<string | undefined>();
    expectTypeOf(at).toEqualTypeOf<number | undefined>();
    const answer = await approval.answer();
    if (answer.action === 'accept') expectTypeOf(answer.content.ok).toEqualTypeOf<boolean>();
    const trained = await (await task.webhook('trained', { within, schema })).received();
    if (!trained.timedOut) expectTypeOf(trained.body.model).toEqualTypeOf<string>();
    const any = await (await task.webhook('any', { within })).received();
    if (!any.timedOut) expectTypeOf(any.body).toEqualTypeOf<unknown>();
    // @ts-expect-error a link asks by a form
    await task.link('page', elicitUrl('Log in', 'https://a.example'), { within });
  });
});

test('a tool knows who called it, as far as the server does', async () => {
  const who = toolOf((task) => task.caller);
  const caller = { subject: 'ann', client: 'app', claims: { team: 'a' } };
  expect(await who({ ...event(undefined), caller })).toEqual(caller);
  expect(await who(event(undefined))).toEqual({});
});
