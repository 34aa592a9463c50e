import { expect, test } from 'vitest';
import { modernRequest, runTask, TASKS } from '../../support/clients.ts';
import { useCloud } from '../../support/cloud.ts';
import { settledTasks } from './fuzz-cloud.ts';

const cloud = useCloud('brief');
/** Together more than the 1 MB of one page of a Scan. */
const LARGE = { count: 30, bytes: 40_000 };

test('every stored task is found, also where a task still works at the first of several scans', async () => {
  const url = `${cloud().url}/mcp`;
  const large = await Promise.all(
    Array.from({ length: LARGE.count }, () => runTask(url, 'big', { bytes: LARGE.bytes })),
  );
  const { body } = await modernRequest(
    url,
    'tools/call',
    { name: 'sleep', arguments: { ms: 4_000 } },
    { capabilities: TASKS },
  );
  expect(body.result.status).toBe('working');

  const tasks = await settledTasks(cloud());
  const ids = [...large, body.result].map(({ taskId }) => taskId);
  expect(ids.filter((id) => tasks.get(id) !== 'completed')).toEqual([]);
});
