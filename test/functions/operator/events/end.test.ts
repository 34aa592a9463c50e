import { expect, test } from 'vitest';
import { endSubscription } from '../../../../functions/operator/events/end.ts';
import { ann, denied, KEY, T0 } from '../operators.ts';
import { eventsOperator, SUBSCRIPTION } from './subscriptions.ts';

const { owner } = KEY;
const AUDITED = { act: 'unsubscribe', taskId: 'sub_2', owner, tool: '', ...ann };

/** Two live subscriptions. */
async function two() {
  const operator = eventsOperator();
  for (const id of ['sub_1', 'sub_2'])
    await operator.items.createSubscription(owner, { ...SUBSCRIPTION, id, url: `https://${id}.example` }, T0);
  const left = async () => (await operator.items.matched(owner)).map(({ id }) => id);
  return { ...operator, left };
}

test('an operator ends one subscription: the others live on, and the audit line says why', async () => {
  const { context, audited, prefixes, left } = await two();
  expect(await endSubscription(owner, 'sub_2', ann, context)).toEqual({
    ...{ taskId: 'sub_2', done: true, message: 'It is ended: its client may subscribe again' },
  });
  expect(await left()).toEqual(['sub_1']);
  expect(audited).toEqual([{ ...AUDITED, done: true, outcome: 'ended' }]);
  // The right to read is enough for that: a URL needs another one.
  expect(prefixes()).toEqual(['#sub#']);
});

test('one that is not there is not ended, and no audit line says so', async () => {
  const { context, audited, left } = await two();
  const ending = endSubscription(owner, 'sub_3', ann, context);
  await expect(ending).rejects.toThrow("owner#o has no live subscription 'sub_3'");
  expect(await left()).toEqual(['sub_1', 'sub_2']);
  expect(audited).toEqual([]);
});

test('one that its client ends meanwhile is gone, which the audit line says', async () => {
  const { context, audited, items } = await two();
  const end: typeof items.endSubscription = async (...given) => {
    await items.endSubscription(...given);
    return items.endSubscription(...given);
  };
  const meanwhile = { ...context, events: { ...context.events, end } };
  expect(await endSubscription(owner, 'sub_2', ann, meanwhile)).toEqual({
    ...{ taskId: 'sub_2', done: false, message: 'It was ended meanwhile' },
  });
  expect(audited).toEqual([{ ...AUDITED, done: false, outcome: 'gone' }]);
});

test('without the right to end it nothing is ended, and the policy is named', async () => {
  const { context, audited, left } = await two();
  const failing = (error: Error) => ({
    ...context,
    events: { ...context.events, end: () => Promise.reject(error) },
  });
  await expect(endSubscription(owner, 'sub_2', ann, failing(denied()))).rejects.toThrow(
    'The subscription sub_2: your credentials may not end it. The act policy of the server allows it',
  );
  const down = endSubscription(owner, 'sub_2', ann, failing(new TypeError('down')));
  await expect(down).rejects.toThrow(new TypeError('down'));
  expect(await left()).toEqual(['sub_1', 'sub_2']);
  expect(audited).toEqual([]);
});
