import { beforeEach, describe, expect, test } from 'vitest';
import { toolsFor } from '../../../../bin/tasks/mcp/tools.ts';
import { eventItems } from '../../../../functions/tasks/table/events/items.ts';
import { positionText } from '../../../../functions/tasks/table/events/log.ts';
import type { NewSubscription } from '../../../../functions/tasks/table/events/subscription.ts';
import { ann, KEY, MINUTE, operatorOn, T0, task } from '../../../functions/operator/operators.ts';
import { TABLE } from '../../../support/engine/memory.ts';
import { onSubscription } from './command.ts';

const NOW = T0 + MINUTE;
const OWNER = ['--owner', KEY.owner];
const WHY = ['--stack', 'Shop', '--reason', 'INC-7'];
const SUBSCRIPTION: NewSubscription = {
  ...{ id: 'sub_1', name: 'task.finished', arguments: {}, scopes: [], url: 'https://a.example/in?key=1', secrets: [] },
  ...{ truncated: false, createdAt: T0, endpoint: '', refreshBefore: T0 + 60 * MINUTE, expiresAt: 1 },
  ...{ started: positionText(0), deliveredTo: positionText(0), lastMatched: positionText(0) },
};

let operator: ReturnType<typeof operatorOn>;
let server: Pick<typeof operator, 'context'>;
beforeEach(() => {
  operator = operatorOn([task()]);
  const { context } = operator;
  server = { context: { ...context, server: { ...context.server, logGroups: { deliveries: 'log' } } } };
});
const subscribe = (
  more: Partial<NewSubscription> & { readonly failedSince?: number; readonly lastError?: string } = {},
) => eventItems(operator.dynamoDb, TABLE).createSubscription(KEY.owner, { ...SUBSCRIPTION, ...more }, T0);
const left = async () => (await server.context.events.subscriptions(KEY.owner)).map(({ id }) => id);

/** One of each state, and one that is over. */
async function all() {
  await subscribe();
  await subscribe({ id: 'sub_2', arguments: { taskId: 't1', tool: 'charge' }, lastDeliveryAt: NOW - 3_000 });
  await subscribe({ id: 'sub_3', failedSince: NOW - 120_000, lastError: 'status 500', lastDeliveryAt: NOW - 3_000 });
  await subscribe({ id: 'sub_4', refreshBefore: NOW });
}

describe('subscriptions', () => {
  const lines = (urls: readonly string[] = []) =>
    [
      `SUBSCRIPTION  EVENT          OF                     UNTIL                 STATE                      URL`,
      `sub_1         task.finished  all tasks              2023-11-14 23:13:20Z  nothing sent yet${urls[0] ?? ''}`,
      `sub_2         task.finished  taskId=t1 tool=charge  2023-11-14 23:13:20Z  last sent 3 s ago${urls[1] ?? ''}`,
      `sub_3         task.finished  all tasks              2023-11-14 23:13:20Z  fails for 2 m: status 500${urls[2] ?? ''}`,
      '',
    ].join('\n');

  test('of an owner, or of the owner of a task: the live ones, with what they get and how it goes', async () => {
    await all();
    expect(await onSubscription(server, 'subscriptions', ...OWNER)).toEqual({ code: 0, out: lines() });
    expect(await onSubscription(server, 'subscriptions', KEY.taskId)).toEqual({ code: 0, out: lines() });
    expect(await onSubscription(server, 'subscriptions', KEY.taskId.slice(-10))).toEqual({ code: 0, out: lines() });
  });

  test('with --payload have their URLs, without what may be a key in them', async () => {
    await all();
    const { out } = await onSubscription(server, 'subscriptions', ...OWNER, '--payload');
    const url = 'https://a.example/in';
    expect(out).toBe(lines([`           ${url}`, `          ${url}`, `  ${url}`]));
  });

  test('as JSON are data', async () => {
    await all();
    const { out } = await onSubscription(server, 'subscriptions', ...OWNER, '--json');
    expect(JSON.parse(out)).toMatchObject({
      owner: KEY.owner,
      subscriptions: [{ id: 'sub_1' }, { id: 'sub_2', lastDeliveryAt: NOW - 3_000 }, { id: 'sub_3' }],
    });
    expect(out).not.toContain('a.example');
  });

  test('an owner without one is named', async () => {
    expect(await onSubscription(server, 'subscriptions', ...OWNER)).toEqual({ code: 0, out: 'owner#o has none\n' });
    expect(JSON.parse((await onSubscription(server, 'subscriptions', ...OWNER, '--json')).out)).toEqual({
      ...{ owner: KEY.owner, subscriptions: [] },
    });
  });

  test.each([
    [['subscriptions'], 'subscriptions takes the id of one task, or --owner'],
    [['subscriptions', KEY.taskId, ...OWNER], 'subscriptions takes the id of one task, or --owner'],
    [['subscriptions', 'a', 'b'], 'subscriptions takes one id'],
    [['unsubscribe', 'a', 'b', ...OWNER], 'unsubscribe takes one id'],
    [['unsubscribe', 'sub_1'], 'unsubscribe takes a subscription and --owner'],
    [['unsubscribe', ...OWNER], 'unsubscribe takes a subscription and --owner'],
    [['unsubscribe', 'sub_1', ...OWNER, '--stack', 'Shop'], 'unsubscribe is audited: give --reason TEXT'],
  ])('%j are refused', async (args, message) => {
    await all();
    await expect(onSubscription(server, ...args)).rejects.toThrow(message);
    expect(await left()).toHaveLength(4);
  });
});

describe('unsubscribe', () => {
  test('ends one subscription, for a reason', async () => {
    await all();
    expect(await onSubscription(server, 'unsubscribe', 'sub_2', ...OWNER, ...WHY)).toEqual({
      ...{ code: 0, out: 'It is ended: its client may subscribe again\n' },
    });
    expect(await left()).toEqual(['sub_1', 'sub_3', 'sub_4']);
    expect(operator.audited).toMatchObject([{ act: 'unsubscribe', taskId: 'sub_2', owner: KEY.owner, ...ann }]);
    await expect(onSubscription(server, 'unsubscribe', 'sub_2', ...OWNER, ...WHY)).rejects.toThrow(
      "owner#o has no live subscription 'sub_2'",
    );
  });

  test('on the server of dev has a reason without one', async () => {
    await subscribe();
    const { out } = await onSubscription(server, 'unsubscribe', 'sub_1', ...OWNER, '--json');
    expect(JSON.parse(out)).toMatchObject({ taskId: 'sub_1', done: true });
    expect(operator.audited).toMatchObject([{ who: 'ann', reason: 'by hand, in dev' }]);
  });

  test('is not done if its client was faster', async () => {
    await subscribe();
    const events = { ...server.context.events, end: async () => false };
    const late = { context: { ...server.context, events } };
    expect(await onSubscription(late, 'unsubscribe', 'sub_1', ...OWNER, ...WHY)).toEqual({
      ...{ code: 1, out: 'It was ended meanwhile\n' },
    });
  });
});

describe('the tools for models', () => {
  const call = (name: string, input: object, payload = true) => {
    const tool = toolsFor({ writes: true, payload }).find((one) => one.name === name);
    return tool?.run(input, server.context);
  };

  test('list the subscriptions of an owner, with URLs only where they may show them', async () => {
    await subscribe();
    const owner = { owner: KEY.owner };
    const found = await call('list_subscriptions', { ...owner, payload: true });
    expect(found).toMatchObject({
      text: 'owner#o has 1 subscription.',
      data: { ...owner, subscriptions: [{ id: 'sub_1', url: 'https://a.example/in' }] },
    });
    const hidden = await call('list_subscriptions', { ...owner, payload: true }, false);
    expect(hidden?.data).not.toHaveProperty('subscriptions.0.url');
    expect(await call('list_subscriptions', { taskId: KEY.taskId })).toMatchObject({ data: owner });
    await expect(call('list_subscriptions', {})).rejects.toThrow('subscriptions takes the id of one task, or --owner');
  });

  test('end one subscription, for the reason that is given', async () => {
    await all();
    const input = { subscription: 'sub_1', owner: KEY.owner, reason: 'INC-7' };
    expect(await call('end_subscription', input)).toMatchObject({
      ...{ text: 'It is ended: its client may subscribe again', failed: false },
    });
    expect(await left()).toEqual(['sub_2', 'sub_3', 'sub_4']);
    expect(operator.audited).toMatchObject([{ act: 'unsubscribe', taskId: 'sub_1', owner: KEY.owner, ...ann }]);
  });
});
