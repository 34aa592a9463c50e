import { describe, expect, test } from 'vitest';
import { legacySession } from '../../../support/clients.ts';
import { useAssembly } from '../../../support/cloud.ts';
import { useCrashCloud } from './cloud.ts';
import { MINUTE, SECONDS, settles } from './row.ts';

const PUT = { service: 'dynamodb', operation: 'PutItem', caller: 'ServerEndpoint', at: 'after' } as const;

describe.each([
  ['Standard', 'test/support/apps/app.ts'],
  ['Express', 'test/support/apps/express-app.ts'],
])('a tool that asks first, on %s', (_engine, app) => {
  const { cloud, url, now, records, runsOf, stored, sweepAfter, quiet } = useCrashCloud({ assembly: useAssembly(app) });

  test('row 4: the endpoint dies after the put: it asks, and never runs without answers', async ({ task }) => {
    const client = await legacySession(url());
    const before = new Set((await records()).map(({ taskId }) => taskId));
    const isTask = ({ input }: { readonly input: object }) => JSON.stringify(input).includes('ask_first');
    const struck = cloud().faults.add({ ...PUT, when: isTask, do: 'killWorker' });
    const since = now();
    await client.request('tools/call', { name: 'ask_first', arguments: {}, task: {} }).catch(() => undefined);
    expect(struck.hits).toBe(1);
    const taskId = (await records()).find((one) => !before.has(one.taskId))?.taskId ?? '';
    settles(task, { row: 4, tookMs: now() - since, boundMs: SECONDS });
    for (const minutes of [1, 6, 1]) {
      await sweepAfter(minutes * MINUTE);
      await quiet();
    }
    expect(await stored(taskId)).toMatchObject({ status: 'input_required', round: 1 });
    expect(runsOf(taskId)).toEqual([]);
  });
});
