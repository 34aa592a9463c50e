import { expect, test } from 'vitest';
import { finished, OWNER, START } from '../../events/support.ts';
import { eventsServer } from './support.ts';

test('the event of an ended task has a summary if its tool has one, also in a poll (H-20)', async () => {
  const { call, subscription, task, queue, store, writer } = eventsServer(['required']);
  const one = { status: 'completed', result: '{"content":[{"type":"text","text":"12 pages"}]}' } as const;
  const summaries: unknown[] = [];
  for (const [id, tool] of Object.entries({ s: 'required', t: 'optional' })) {
    const { taskId } = task(id, { ...one, tool });
    await call('events/subscribe', subscription({ arguments: { taskId } }));
    const { position } = JSON.parse(queue.sent.at(-1)?.body ?? '');
    summaries.push((await store.occurrence(OWNER, position))?.body.data);
  }
  expect(summaries).toEqual([
    expect.objectContaining({ tool: 'required', summary: '12 pages' }),
    expect.not.objectContaining({ summary: expect.anything() }),
  ]);
  const { cursor } = (await call('events/poll', { name: 'task.finished' })).result;
  await writer().append(OWNER, { at: START, event: finished(9), summary: 'Done' });
  const { events } = (await call('events/poll', { name: 'task.finished', cursor })).result;
  expect(events).toMatchObject([{ data: { taskId: 't9', summary: 'Done' } }]);
});

test('events/list names the summary only if a tool has one (H-03, H-20)', async () => {
  const summaryOf = async (tools: readonly string[]) => {
    const { events } = (await eventsServer(tools).call('events/list')).result;
    return events.map(({ payloadSchema }: { payloadSchema: { properties: object } }) =>
      Object.hasOwn(payloadSchema.properties, 'summary'),
    );
  };
  expect([await summaryOf([]), await summaryOf(['optional'])]).toEqual([
    [false, false],
    [true, true],
  ]);
});
