import { expect, test } from 'vitest';
import type { StoredSubscription } from '../../../../functions/tasks/table/events/subscription.ts';
import { OWNER } from '../../events/support.ts';
import { eventsServer, SECRET, URL_ } from './support.ts';

const OTHER = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;

test('a subscription that begins, gets another secret or scopes, or ends has an audit line', async () => {
  const { call, subscription, audited, caller, task } = eventsServer();
  const { taskId } = task('t');
  const asked = (secret = SECRET) => subscription({ arguments: { tool: 'optional', taskId } }, { secret });
  const { result } = await call('events/subscribe', asked());
  await call('events/subscribe', asked());
  await call('events/subscribe', asked(OTHER));
  await call('events/subscribe', asked(OTHER), {}, { ...caller, scopes: ['tasks'] });
  await call('events/subscribe', asked(SECRET));
  await call('events/unsubscribe', asked());
  await call('events/unsubscribe', asked());
  const lines = audited.map((line) => JSON.parse(line));
  const same = {
    event: 'audit',
    owner: OWNER,
    subscription: result.id,
    name: 'task.finished',
    tool: 'optional',
    taskId,
  };
  expect(lines).toEqual([
    { ...same, action: 'subscribed' },
    { ...same, action: 'renewed', changed: ['secret'] },
    { ...same, action: 'renewed', changed: ['scopes'] },
    { ...same, action: 'renewed', changed: ['secret', 'scopes'] },
    { ...same, action: 'unsubscribed' },
  ]);
  expect(audited.join()).not.toMatch(/receiver\.example|whsec_/);
});

test('refused or lapsed has no such line, and one begun by halves when it starts', async () => {
  const { call, subscription, receiver, audited, clock, items } = eventsServer();
  receiver.refuses = 'timeout';
  await call('events/subscribe', subscription());
  receiver.refuses = undefined;
  expect(audited).toEqual([]);
  const { result } = await call('events/subscribe', subscription());
  clock.now = Date.parse(result.refreshBefore);
  await call('events/unsubscribe', subscription());
  expect(audited).toHaveLength(1);
  // A request that died before its start.
  const { result: again } = await call('events/subscribe', subscription());
  const { started, ...stored } = (await items.subscription(OWNER, again.id)) ?? {};
  expect(started).toBeDefined();
  await items.endSubscription(OWNER, { id: again.id, createdAt: clock.now });
  await items.createSubscription(OWNER, { ...(stored as StoredSubscription), url: URL_ }, clock.now);
  await call('events/subscribe', subscription({}, { url: URL_ }));
  expect(audited.slice(1).map((line) => JSON.parse(line).action)).toEqual(['subscribed', 'subscribed']);
});
