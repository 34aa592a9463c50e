import { beforeAll, describe, expect, test } from 'vitest';
import { type TaskStore, taskStore } from '../../../functions/tasks/table/store.ts';
import { askFirst, create } from '../../../functions/tasks/transitions/begin.ts';
import { cancel } from '../../../functions/tasks/transitions/end.ts';
import { useCloud } from '../../support/cloud.ts';
import { dynamoDbOf } from '../../support/dynamodb.ts';
import { verbsOn } from './verbs.ts';

const MANY = 200;
const MINUTE = 60_000;

const cloud = useCloud();
const tasks = verbsOn(cloud);
const now = Date.now();
let store: TaskStore;

const id = (n: number) => `00000000000000000000000000000000${String(n).padStart(4, '0')}`;
const added = async (n: number, more: { tool?: string; owner?: string; createdAt?: number; timeout?: number } = {}) => {
  const { tool = 'echo', owner = 'owner#ann', createdAt = now - n * MINUTE, timeout = 1_200 * MINUTE } = more;
  const task = { tool, ttl: 1_440 * MINUTE, timeout, accepts: ['elicitation/create'], legacy: false };
  const record = create({ owner, taskId: id(n) }, task, createdAt);
  await store.create(record);
  return record;
};
const idsOf = (page: { tasks: { taskId: string }[] }) => page.tasks.map(({ taskId }) => taskId);

beforeAll(async () => {
  store = taskStore(dynamoDbOf(cloud(), 'administrator'), cloud().tables[0] ?? '');
  const every = async (n: number) => {
    const record = await added(n);
    // Every fifth was cancelled; every third of the others asks.
    if (n % 5 === 0) await store.applyBlind(record, cancel(now));
    else if (n % 3 === 0) await store.applyBlind(record, askFirst(record, '{"inputRequests":{}}', '{}', now));
  };
  for (let n = 0; n < MANY; n += 20) await Promise.all(Array.from({ length: 20 }, (_, i) => every(n + i)));
  await added(MANY, { tool: 'sleep', owner: 'owner#ben', createdAt: now - 700 * MINUTE, timeout: 705 * MINUTE });
});

describe('a list', () => {
  test('reads 24 small pages of the index and one batch, however many tasks there are', async () => {
    const mark = cloud().calls.mark();
    expect(idsOf((await tasks('list', '--json')).json())).toHaveLength(50);
    const calls = cloud()
      .calls.since(mark)
      .filter(({ service }) => service === 'dynamodb');
    const queries = calls.filter(({ operation }) => operation === 'Query').map(({ input }) => input);
    expect(calls).toHaveLength(queries.length + 1);
    expect(queries).toEqual(Array(24).fill(expect.objectContaining({ IndexName: 'status', Limit: 25 })));
    // At most 600 entries of the index, eventually consistent, and 50 small records.
    const units = calls.reduce((sum, { consumed }) => sum + (consumed?.table ?? 0) + (consumed?.index ?? 0), 0);
    expect(units).toBeLessThanOrEqual(49);
  });

  test('is chosen by tool, owner, status, age and deadline, alone and together', async () => {
    const found = async (...filters: string[]) => idsOf((await tasks('list', '--json', ...filters)).json());
    expect(await found('--tool', 'sleep')).toEqual([id(MANY)]);
    expect(await found('--owner', 'owner#ben')).toEqual([id(MANY)]);
    expect(await found('--owner', 'owner#ben', '--tool', 'echo')).toEqual([]);
    expect(await found('--older-than', '650m')).toEqual([id(MANY)]);
    expect(await found('--newer-than', '650m', '--tool', 'sleep')).toEqual([]);
    expect(await found('--ends-within', '10m')).toEqual([id(MANY)]);
    expect(await found('--status', 'cancelled', '--newer-than', '26m')).toEqual([0, 5, 10, 15, 20, 25].map(id));
    expect(await found('--owner', 'owner#ann', '--status', 'cancelled', '--newer-than', '6m')).toEqual([5, 0].map(id));
  });

  test('as text has age, time left, and the command for the next page', async () => {
    const { out, code } = await tasks('list', '--tool', 'sleep');
    expect(code).toBe(0);
    expect(out).toMatch(/^TASK +TOOL +STATUS +AGE +ENDS IN +ROUND/);
    expect(out).toMatch(new RegExp(`${id(MANY)}  sleep  working  11 h 40 m +[45] m`));
    expect((await tasks('list')).out).toContain('There are more: --cursor ');
    expect((await tasks('list', '--status', 'failed')).out).toBe('No task.\n');
  });
});

test('while the index is being built, lists and short ids say so; a whole id is found', async () => {
  const message = 'Cannot read from backfilling global secondary index: status';
  const building = cloud().faults.add({
    ...{ service: 'dynamodb', operation: 'Query', times: Number.POSITIVE_INFINITY },
    when: ({ input }) => input.IndexName === 'status',
    do: { error: 'ValidationException', status: 400, message },
  });
  const { code, err } = await tasks('list');
  expect([code, err]).toEqual([1, expect.stringMatching(/^The index of tasks by status is being built: lists/)]);
  expect((await tasks('show', id(7).slice(-12))).err).toBe(err);
  expect((await tasks('show', id(7), '--owner', 'owner#ann')).code).toBe(0);
  building.remove();
  expect((await tasks('list')).code).toBe(0);
});
