import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { pollLimit } from '../../../../functions/mcp/read/poll-limit.ts';
import type { Principal } from '../../../../functions/tasks/ids.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import { memoryEngine } from '../../../support/engine/memory.ts';

const { most, window, free } = limits.lists;
const { burst, perInterval } = limits.uncountedLists;
const ann: Principal = { kind: 'verified', key: 'ann' };
const bob: Principal = { kind: 'verified', key: 'bob' };
const anyone: Principal = { kind: 'anonymous' };

beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));
afterEach(() => void vi.restoreAllMocks());

/** Containers of one server, on one table, at the begin of a window. */
function setup() {
  const clock = { now: 340_000_000 * window };
  const { store } = memoryEngine(() => clock.now);
  const counted = vi.spyOn(store, 'countList');
  const container = () => {
    const { countList } = pollLimit(() => clock.now);
    return (principal: Principal) => countList(principal, { store });
  };
  return { clock, counted, container };
}

const tooMany = (retryAfter: number) => ({ name: 'TooManyLists', httpStatus: 429, retryAfter });
async function times(count: number, list: () => Promise<void>): Promise<void> {
  for (let n = 0; n < count; n++) await list();
}

test('all containers serve 100 lists of an owner in 10 s, and one free each (E-29)', async () => {
  const { counted, container } = setup();
  const [one, other] = [container(), container()];
  await times(1 + most / 2, () => one(ann));
  await times(1 + most / 2, () => other(ann));
  expect(counted).toHaveBeenCalledTimes(most);
  await expect(one(ann)).rejects.toMatchObject(tooMany(5));
  await expect(other(ann)).rejects.toMatchObject(tooMany(5));
  await times(2, () => one(bob));
});

test('a search for a free slot counts as a list, and is refused beyond the limit (C-37, E-29)', async () => {
  const clock = { now: 340_000_000 * window };
  const { store } = memoryEngine(() => clock.now);
  const { countList, mayReadMany } = pollLimit(() => clock.now);
  await times(1 + most / 2, () => countList(ann, { store }));
  for (let n = 0; n < most / 2; n++) expect(await mayReadMany(ann, { store })).toBe(true);
  expect(await mayReadMany(ann, { store })).toBe(false);
  await expect(countList(ann, { store })).rejects.toMatchObject(tooMany(5));
});

test('who lists in a loop costs one call in each window, and is served two windows later (E-29)', async () => {
  const { clock, counted, container } = setup();
  const list = container();
  await times(1 + most, () => list(ann));
  counted.mockClear();
  clock.now += 1_500;
  for (let n = 0; n < 50; n++) await expect(list(ann)).rejects.toMatchObject(tooMany(4));
  expect(counted).toHaveBeenCalledTimes(1);
  clock.now += 3_500;
  for (let n = 0; n < 50; n++) await expect(list(ann)).rejects.toMatchObject(tooMany(5));
  expect(counted).toHaveBeenCalledTimes(2);
  clock.now += window;
  await times(most, () => list(ann));
  await expect(list(ann)).rejects.toMatchObject(tooMany(5));
});

test('a client that lists each two minutes is not counted in the table (E-29)', async () => {
  const { clock, counted, container } = setup();
  const list = container();
  for (let n = 0; n < 5; n++, clock.now += free) await list(ann);
  expect(counted).not.toHaveBeenCalled();
  await list(ann);
  clock.now += free - 1;
  await list(ann);
  expect(counted).toHaveBeenCalledTimes(1);
  expect(counted).toHaveBeenLastCalledWith('ann', most, clock.now, window);
});

test('a hundred sessions that one owner resumes at once are all served (C-37)', async () => {
  const { container } = setup();
  const containers = Array.from({ length: 20 }, container);
  await Promise.all(containers.flatMap((list) => Array.from({ length: 5 }, () => list(ann))));
});

test('each anonymous session is an owner; those without one share a count (E-29)', async () => {
  const { clock, counted, container } = setup();
  const [one, other] = [container(), container()];
  await times(2, () => one({ ...anyone, session: 'a' }));
  await times(2, () => one({ ...anyone, session: 'b' }));
  expect(new Set(counted.mock.calls.map(([owner]) => owner)).size).toBe(2);
  counted.mockClear();
  await times(burst, () => one(anyone));
  await expect(one({ ...anyone })).rejects.toMatchObject(tooMany(1));
  await other(anyone);
  clock.now += 1_000;
  await times(perInterval, () => one(anyone));
  await expect(one(anyone)).rejects.toMatchObject(tooMany(1));
  expect(counted).not.toHaveBeenCalled();
});

test('an outage refuses none but a caller that loops: then each container counts (E-29)', async () => {
  const { clock, counted, container } = setup();
  const list = container();
  await times(1 + most, () => list(ann));
  await expect(list(ann)).rejects.toMatchObject(tooMany(5));
  clock.now += window;
  counted.mockRejectedValue(Object.assign(new Error('slow down'), { name: 'ThrottlingException' }));
  await times(burst, () => list(ann));
  await expect(list(ann)).rejects.toMatchObject(tooMany(1));
  await list(bob);
  expect(vi.mocked(console.error).mock.calls[0]?.[0]).toMatch(/list count.*ThrottlingException/);
});

test('any other error of the count is not hidden', async () => {
  const { counted, container } = setup();
  const list = container();
  await list(ann);
  counted.mockRejectedValue(new Error('a bug'));
  await expect(list(ann)).rejects.toThrow('a bug');
});

test('of very many owners only the last ones are remembered', async () => {
  const { counted, container } = setup();
  const list = container();
  await list(ann);
  for (let n = 1; n < limits.lists.owners; n++) await list({ kind: 'verified', key: String(n) });
  await list(ann);
  expect(counted).toHaveBeenCalledTimes(1);
  for (let n = 0; n < limits.lists.owners; n++) await list({ kind: 'verified', key: `other ${n}` });
  await list(ann);
  expect(counted).toHaveBeenCalledTimes(1);
});
