import { expect, test } from 'vitest';
import { answerTask } from '../../../../functions/operator/acts/answer.ts';
import type { OperatorContext } from '../../../../functions/operator/context.ts';
import { explain } from '../../../../functions/operator/explain/index.ts';
import { type Story, show } from '../../../../functions/operator/show.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { journalStore } from '../../../../functions/tasks/table/journal-items.ts';
import type { StoredWait } from '../../../../functions/tasks/tool-contract.ts';
import { signalUrl } from '../../../../functions/tasks/waits/signal-url.ts';
import { TABLE } from '../../../support/engine/memory.ts';
import { ann, asking, KEY, MINUTE, operatorOn, T0, task } from '../operators.ts';

const until = T0 + 5 * MINUTE;
const form = { message: 'Buy?', requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } } };
const LINK: StoredWait = { kind: 'link', until, question: { method: 'elicitation/create', params: form } };
const WEBHOOK: StoredWait = { kind: 'webhook', until };

async function waiting(waits: Record<string, StoredWait>, more: Partial<TaskRecord> = {}) {
  const text = JSON.stringify(
    Object.fromEntries(Object.entries(waits).map(([name, { kind }]) => [name, { kind, until }])),
  );
  const record = task({ status: 'waiting', hookKey: 'k', waits: text, asked: '{}', arguments: '{}', ...more });
  const operator = operatorOn([record]);
  const journal = journalStore(operator.dynamoDb, TABLE);
  for (const [name, wait] of Object.entries(waits)) {
    // The table expires items by the real clock.
    const entry = { kind: 'wait', name, value: JSON.stringify(wait) } as const;
    await journal.writeEntry({ ...KEY, round: 1, deadline: Date.now() }, entry);
  }
  const server = { ...operator.context.server, url: 'https://mcp.example.com' };
  const context: OperatorContext = { ...operator.context, server };
  const stored = () => operator.records.get(KEY.taskId);
  return { ...operator, context, stored };
}

test('an operator answers a link: the answer has their name, the events have their reason', async () => {
  const { context, stored, audited, executions } = await waiting({ approval: LINK });
  const outcome = await answerTask(KEY, [['ok', 'true']], ann, context);
  expect(outcome).toEqual({ taskId: KEY.taskId, done: true, message: 'Answered' });
  const signal = { action: 'accept', content: { ok: true }, by: 'ann', at: T0 + MINUTE };
  expect(stored()).toMatchObject({
    status: 'waiting',
    dueAt: 0,
    signalled: ['approval'],
    inputResponses: { 'w.approval': JSON.stringify({ round: 1, signal }) },
  });
  expect(stored()?.events.at(-1)).toMatchObject({ what: 'signalled', by: 'operator', ...ann });
  expect(audited).toMatchObject([{ act: 'answer', ...ann, done: true, outcome: 'Answered. 0 open' }]);
  // The reader of the stream begins the round.
  expect(executions.all()).toEqual([]);
});

test('a webhook gets any JSON, or a text; the name says which of several is meant', async () => {
  const { context, stored } = await waiting({ approval: LINK, trained: WEBHOOK, more: WEBHOOK, note: WEBHOOK });
  const outcome = await answerTask(
    KEY,
    [
      ['trained', '{"model":1}'],
      ['more', '"x"'],
      ['note', 'all is well'],
    ],
    ann,
    context,
  );
  expect(outcome.message).toBe('Answered. It waits for approval');
  const signals = () => Object.values(stored()?.inputResponses ?? {}).map((text) => JSON.parse(text).signal);
  expect(signals().map(({ body }) => body)).toEqual([{ model: 1 }, 'x', 'all is well']);
  const ben = { who: 'b'.repeat(limits.signal.by + 1), reason: '' };
  expect(await answerTask(KEY, [['approval', 'decline']], ben, context)).toMatchObject({ done: true });
  expect(signals().at(-1)).toEqual({ action: 'decline', by: 'b'.repeat(limits.signal.by), at: T0 + MINUTE });
});

test.each<[string, Record<string, StoredWait>, Parameters<typeof answerTask>[1]]>([
  ['without an answer', { approval: LINK }, []],
  ['of a task that only sleeps', { night: { kind: 'time', until } }, [['night', '1']]],
])('an act %s changes nothing, and does not say that it did', async (_which, waits, pairs) => {
  const { context, stored } = await waiting(waits);
  const before = stored();
  expect(await answerTask(KEY, pairs, ann, context)).toMatchObject({
    done: false,
    message: 'Not answered: it asks nothing now',
  });
  expect(stored()).toEqual(before);
});

test('what does not fit, or comes too late, changes nothing and says why', async () => {
  const { context, stored, clock, audited } = await waiting({ approval: LINK });
  const before = stored();
  await expect(answerTask(KEY, [['approval.ok', 'perhaps']], ann, context)).rejects.toThrow(
    "approval: content['ok'] must be true or false",
  );
  await expect(answerTask(KEY, [['nothing', '1']], ann, context)).rejects.toThrow(
    "No question has 'nothing', only: approval.ok",
  );
  clock.now = until;
  expect(await answerTask(KEY, [['ok', 'true']], ann, context)).toMatchObject({
    done: false,
    message: 'Not answered: approval: it is over',
  });
  expect(audited).toMatchObject([{ act: 'answer', done: false, outcome: 'Not answered: it is over' }]);
  expect(stored()).toEqual(before);
});

test('of two answers, the second of which comes too late, it says that the first is stored', async () => {
  const { context, stored, audited } = await waiting({ trained: WEBHOOK, approval: LINK });
  const { store } = context;
  const applyBlind: typeof store.applyBlind = async (...given) => {
    const written = await store.applyBlind(...given);
    // Another operator is faster with the second one.
    await answerTask(KEY, [['approval', 'decline']], { who: 'ben', reason: '' }, context);
    return written;
  };
  const both = [
    ['trained', '{"model":1}'],
    ['approval.ok', 'true'],
  ] as const;
  expect(await answerTask(KEY, both, ann, { ...context, store: { ...store, applyBlind } })).toMatchObject({
    done: true,
    message: 'Answered: trained. Not answered: approval: it has its answer already',
  });
  expect(stored()?.signalled).toEqual(['trained', 'approval']);
  expect(audited.at(-1)).toMatchObject({ done: true, outcome: '1 answered. Not answered: it has its answer already' });
});

test('of two answers, the second of which has no room, it says that the first is stored', async () => {
  const { context, stored, audited } = await waiting({ trained: WEBHOOK, more: WEBHOOK });
  const large = ['more', JSON.stringify('x'.repeat(limits.answers))] as const;
  const outcome = await answerTask(KEY, [['trained', '1'], large], ann, context);
  expect(outcome).toMatchObject({
    done: true,
    message: expect.stringContaining('Answered: trained. Not answered: more: The task has no room'),
  });
  expect(stored()?.signalled).toEqual(['trained']);
  expect(audited).toMatchObject([{ done: true, outcome: expect.stringContaining('1 answered. Not answered: ') }]);
  await expect(answerTask(KEY, [large], ann, context)).rejects.toThrow('has no room for this');
});

test('beside questions of the client only the name of the wait answers it', async () => {
  const { asked = '' } = asking(['a']);
  const { context, stored } = await waiting(
    { approval: LINK },
    { status: 'input_required', asked, accepts: ['elicitation/create'] },
  );
  const both = answerTask(
    KEY,
    [
      ['a.ok', 'true'],
      ['approval.ok', 'true'],
    ],
    ann,
    context,
  );
  await expect(both).rejects.toThrow('one after the other');
  expect(await answerTask(KEY, [['approval.ok', 'true']], ann, context)).toMatchObject({ done: true });
  expect(stored()).toMatchObject({ status: 'input_required', signalled: ['approval'] });
  expect(await answerTask(KEY, [['ok', 'true']], ann, context)).toMatchObject({ message: 'Answered. Round 2 runs' });
});

test('beside a link and a webhook the questions of the client are answered, and both stay open', async () => {
  const { asked = '' } = asking(['a', 'b']);
  const { context, stored } = await waiting(
    { approval: LINK, trained: WEBHOOK },
    { status: 'input_required', asked, accepts: ['elicitation/create'] },
  );
  expect(await answerTask(KEY, [['a.ok', 'true']], ann, context)).toMatchObject({
    message: 'Answered. Still open: r1.b',
  });
  expect(stored()).not.toHaveProperty('signalled');
  expect(await answerTask(KEY, [['trained', '{}']], ann, context)).toMatchObject({
    message: 'Answered. It waits for approval',
  });
  expect(stored()?.signalled).toEqual(['trained']);
});

test('show says who is waited for, and until when; the link only with the right to payloads', async () => {
  const { context } = await waiting({ approval: LINK, trained: WEBHOOK }, { signalled: ['trained'] });
  const plain = (await show(KEY, false, context)) as Story;
  expect(plain.waits).toEqual([
    { name: 'approval', kind: 'link', until },
    { name: 'trained', kind: 'webhook', until, signalled: true },
  ]);
  const place = { url: 'https://mcp.example.com/signals', key: 'k' };
  const { payload } = (await show(KEY, true, context)) as Story;
  expect(payload?.links).toEqual({ approval: signalUrl(place, 'approval') });
  expect(payload?.questions).toEqual({ approval: { method: 'elicitation/create', params: form } });
});

test('explain names what the task waits for, and how an operator answers it', async () => {
  const { context } = await waiting({ approval: LINK });
  expect(await explain(KEY, false, context)).toMatchObject({
    cause: 'waits for a person or another system',
    row: '25',
    because: [expect.stringContaining('Waiting for approval until 2023-11-14T22:18:20Z'), 'Nothing runs meanwhile.'],
  });
});

test('of several waits it names those that are answered, and those that are not', async () => {
  const { context } = await waiting({ a: WEBHOOK, b: WEBHOOK, c: WEBHOOK, d: LINK, e: WEBHOOK });
  const large = JSON.stringify('x'.repeat(limits.answers));
  const three = [
    ['a', '1'],
    ['b', '2'],
    ['c', large],
  ] as const;
  const { message } = await answerTask(KEY, three, ann, context);
  expect(message).toMatch(/^Answered: a, b\. Not answered: c: The task has no room/);
  expect(await answerTask(KEY, [['c', '3']], ann, context)).toMatchObject({
    message: 'Answered. It waits for d, e',
  });
});

test('a part of a webhook is not a key: only links have fields', async () => {
  const { context } = await waiting({ approval: LINK, trained: WEBHOOK });
  await expect(answerTask(KEY, [['trained.model', '1']], ann, context)).rejects.toThrow(
    /^No question has 'trained\.model', only: approval\.ok$/,
  );
});
