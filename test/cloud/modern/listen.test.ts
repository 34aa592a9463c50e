import { expect, test } from 'vitest';
import { type Answer, ended, modernMessage, modernRequest, openStream } from '../../support/clients.ts';
import { useCloud } from '../../support/cloud.ts';

const cloud = useCloud();
const url = () => `${cloud().url}/mcp`;
const UNKNOWN = '0'.repeat(36);

async function start(name: string, args: object = {}): Promise<string> {
  return (await modernRequest(url(), 'tools/call', { name, arguments: args })).body.result.taskId;
}

interface Notified {
  readonly task: Answer['body'];
  /** The answer of tasks/get right after. */
  readonly got: Answer['body'];
}

/** Listens until the server ends it. @param hear gets each task of each notification */
async function listen(taskIds: readonly string[], hear: (task: Answer['body']) => void) {
  const { body, headers } = modernMessage('subscriptions/listen', { notifications: { taskIds } });
  const stream = await openStream(url(), body, headers);
  let acknowledged: { taskIds: string[] } | undefined;
  const notified: Promise<Notified>[] = [];
  let result: Answer['body'];
  for await (const { data } of stream.events) {
    const { method, params, ...answer }: Answer['body'] = data;
    if (method === 'notifications/subscriptions/acknowledged') {
      acknowledged = { taskIds: params.notifications.taskIds };
    } else if (method === 'notifications/tasks') {
      hear(params);
      const asked = modernRequest(url(), 'tasks/get', { taskId: params.taskId });
      notified.push(asked.then((reply) => ({ task: params, got: reply.body.result })));
    } else result = answer.result;
  }
  if (acknowledged === undefined) throw new Error('It was not acknowledged');
  return { acknowledged, notified: await Promise.all(notified), result, type: stream.headers.get('content-type') };
}

/** The part of a task that a notification and tasks/get share. */
function said({ _meta, resultType, pollIntervalMs, ...task }: Answer['body']): object {
  return task;
}

test('subscriptions/listen on 20 tasks sends each end, then ends (D-29, D-31, E-24, E-25)', async () => {
  const isError = JSON.stringify({ content: [{ type: 'text', text: 'no' }], isError: true });
  const [waiting, unwanted, ...rest] = await Promise.all([
    start('ask'),
    start('hold', { file: '/nonexistent' }),
    start('throws'),
    start('returns', { json: isError }),
    ...Array.from({ length: 16 }, (_, i) => start('sleep', { ms: 150 * i })),
  ]);
  if (waiting === undefined || unwanted === undefined) throw new Error('They did not start');
  const taskIds = [waiting, unwanted, ...rest];
  const asks = Promise.withResolvers<void>();
  const listening = listen([UNKNOWN, ...taskIds, 'no id at all'], ({ taskId, status }) => {
    if (taskId === waiting && status === 'input_required') asks.resolve();
  });
  await asks.promise;
  await modernRequest(url(), 'tasks/cancel', { taskId: unwanted });
  const inputResponses = { 'r1.confirm': { action: 'accept', content: { ok: true } } };
  await modernRequest(url(), 'tasks/update', { taskId: waiting, inputResponses });

  const { acknowledged, notified, result, type } = await listening;
  expect(type).toMatch(/^text\/event-stream/);
  expect([...acknowledged.taskIds].sort()).toEqual([...taskIds].sort());
  expect(result).toMatchObject({ resultType: 'complete' });
  const ends = notified.filter(({ task }) => ended(task));
  expect(ends.map(({ task }) => task.taskId).sort()).toEqual([...taskIds].sort());
  const count = (wanted: string) => ends.filter(({ task }) => task.status === wanted).length;
  expect([count('completed'), count('failed'), count('cancelled')]).toEqual([18, 1, 1]);
  for (const { task, got } of notified) {
    if (ended(task) || task.lastUpdatedAt === got.lastUpdatedAt) expect(said(task)).toEqual(said(got));
  }
  expect(notified.some(({ task }) => task.taskId === waiting && task.status === 'input_required')).toBe(true);
});
