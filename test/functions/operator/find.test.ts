import { describe, expect, test } from 'vitest';
import { findTask, isWholeId } from '../../../functions/operator/find.ts';
import { createdAtOf } from '../../../functions/tasks/ids.ts';
import { STATUSES, type Status, type TaskKey } from '../../../functions/tasks/record.ts';
import type { OperatorReads } from '../../../functions/tasks/table/operator-reads.ts';

type Stored = TaskKey & { readonly status: Status };
const at = '01m81rnzam';
const task = (end: string, more: Partial<Stored> = {}): Stored => ({
  ...{ owner: 'owner#ann', status: 'working', taskId: at + end.padStart(26, '0') },
  ...more,
});
const PAGE = 2_000;

/** Reads of a table with these tasks, the newest first, with an index beside it. Places are numbers of tasks. */
function readsOf(stored: readonly Stored[]) {
  const calls = { inStatus: 0, ofOwner: 0, get: 0 };
  const [byStatus, byOwner] = [Map.groupBy(stored, ({ status }) => status), Map.groupBy(stored, ({ owner }) => owner)];
  const page = (tasks: readonly Stored[], first = 0) => ({
    tasks: tasks.slice(first, first + PAGE),
    ...(first + PAGE < tasks.length && { next: { createdUntil: first + PAGE } }),
  });
  const reads = {
    async get({ owner, taskId }: TaskKey, payload: boolean) {
      // The read policy allows no more.
      expect(payload).toBe(false);
      calls.get++;
      return stored.find((one) => one.owner === owner && one.taskId === taskId);
    },
    async inStatus(status: Status, { createdFrom, createdUntil }: { createdFrom?: number; createdUntil?: number }) {
      calls.inStatus++;
      return page(createdFrom === undefined ? (byStatus.get(status) ?? []) : [], createdUntil);
    },
    async ofOwner(owner: string, _selection: object, _limit: number, from: { createdUntil?: number } = {}) {
      calls.ofOwner++;
      return page(byOwner.get(owner) ?? [], from.createdUntil);
    },
  };
  return { reads: reads as unknown as OperatorReads, calls };
}
const flood = (count: number, more: Partial<Stored>) =>
  Array.from({ length: count }, (_, i) => task(`f${i}x`, { owner: 'owner#mallory', ...more }));
const keyOf = ({ owner, taskId }: Stored): TaskKey => ({ owner, taskId });
const END = 'zyxwvtsrqp';

describe('with an owner, a task of another owner is not found', () => {
  const anns = task(END);
  const { reads } = readsOf([anns, task('k', { owner: `task#${at}${'k'.padStart(26, '0')}` })]);

  test('by the end of its id', async () => {
    await expect(findTask(END, 'owner#ben', reads)).rejects.toThrow("of the owner 'owner#ben'");
    expect(await findTask(END, 'owner#ann', reads)).toEqual(keyOf(anns));
  });

  test('by its whole id, also if it is anonymous', async () => {
    const anonymous = at + 'k'.padStart(26, '0');
    await expect(findTask(anns.taskId, 'owner#ben', reads)).rejects.toThrow('No task');
    await expect(findTask(anonymous, 'owner#ann', reads)).rejects.toThrow('No task');
    expect(await findTask(anonymous, undefined, reads)).toMatchObject({ taskId: anonymous });
    expect(await findTask(anonymous, `task#${anonymous}`, reads)).toMatchObject({ taskId: anonymous });
  });

  test('and a whole id costs one small read, whether it is found or not', async () => {
    const { reads: counted, calls } = readsOf([anns]);
    await findTask(anns.taskId, 'owner#ann', counted);
    await expect(findTask(anns.taskId, 'owner#ben', counted)).rejects.toThrow('No task');
    expect(calls).toEqual({ get: 2, inStatus: 0, ofOwner: 0 });
  });

  test('and the owner decides where two tasks end alike', async () => {
    const bens = task(END, { owner: 'owner#ben' });
    const both = readsOf([anns, bens]).reads;
    const [ofAnn, ofBen] = [`${anns.taskId} (owner owner#ann)`, `${bens.taskId} (owner owner#ben)`];
    await expect(findTask(END, undefined, both)).rejects.toThrow(
      `2 tasks end in '${END}', give a whole id: ${ofAnn}, ${ofBen}`,
    );
    expect(await findTask(END, 'owner#ben', both)).toEqual(keyOf(bens));
  });

  test('a task of a session is found by its own half, too', async () => {
    const partition = 's'.repeat(26);
    const inSession = task('q', {
      owner: `session#${partition}`,
      taskId: `${partition}_${task('q').taskId}`,
    });
    for (const id of [task('q').taskId, inSession.taskId]) {
      expect(await findTask(id, inSession.owner, readsOf([inSession]).reads)).toEqual(keyOf(inSession));
    }
  });
});

describe('the end of an id', () => {
  test('has ten characters', async () => {
    const { reads } = readsOf([task(END)]);
    await expect(findTask(END.slice(1), undefined, reads)).rejects.toThrow('at least its last 10 characters');
    const none = findTask('0123456789', undefined, reads);
    await expect(none).rejects.toThrow(/^No task '0123456789'\. It may have expired$/);
    expect(await findTask(`…${END}`, undefined, reads)).toMatchObject({ owner: 'owner#ann' });
  });

  test('is searched in all statuses before a task is taken', async () => {
    const open = task(END, { owner: 'owner#mallory' });
    const ended = task(END, { status: 'failed' });
    await expect(findTask(END, undefined, readsOf([open, ended]).reads)).rejects.toThrow('2 tasks end in');
    expect(await findTask(END, undefined, readsOf([ended]).reads)).toEqual(keyOf(ended));
  });

  test('that a search of too many tasks does not find is not said to be gone', async () => {
    const hidden = [...flood(40_001, { status: 'completed' }), task(END, { status: 'completed' })];
    const { reads } = readsOf(hidden);
    await expect(findTask(END, undefined, reads)).rejects.toThrow(
      'There are more tasks than the search reads: give its whole id and --owner',
    );
    expect(await findTask(END, 'owner#ann', reads)).toMatchObject({ owner: 'owner#ann' });
  });

  test('that a search of too many tasks of its owner does not find needs the whole id alone', async () => {
    const { reads } = readsOf([...flood(40_001, {}), task(END, { owner: 'owner#mallory' })]);
    await expect(findTask(END, 'owner#mallory', reads)).rejects.toThrow(/search reads: give its whole id$/);
  });

  test('takes no task while another one with this end may be unseen', async () => {
    const shadow = task(END, { owner: 'owner#mallory' });
    const { reads } = readsOf([shadow, ...flood(40_001, { status: 'completed' })]);
    await expect(findTask(END, undefined, reads)).rejects.toThrow(`give its whole id: ${shadow.taskId}`);
  });
});

test('a whole id that does not say when it was made is taken from a search that saw not all', async () => {
  const keyed = task(END, { status: 'completed', taskId: 'k'.repeat(36) });
  const { reads } = readsOf([keyed, ...flood(40_001, { status: 'completed' })]);
  expect(await findTask(keyed.taskId, undefined, reads)).toEqual(keyOf(keyed));
});

describe('an id in the index', () => {
  test('is one task, though the index still shows it in the status before, too', async () => {
    const moving = task(END);
    const { reads } = readsOf([moving, { ...moving, status: 'completed' }]);
    expect(await findTask(END, undefined, reads)).toEqual(keyOf(moving));
  });

  test('of two owners is ambiguous, though the two ids are the same', async () => {
    const { reads } = readsOf([task(END), task(END, { owner: 'owner#ben' })]);
    await expect(findTask(END, undefined, reads)).rejects.toThrow('2 tasks end in');
  });

  test('of a caller with an identity is found near the time that the whole id says', async () => {
    const anns = task(END);
    const asked: object[] = [];
    const reads = {
      get: async () => undefined,
      inStatus: async (status: Status, selection: object, _limit: number, taskId: string) => {
        asked.push({ ...selection, taskId });
        const longer = task('other', { taskId: `${'s'.repeat(26)}_${anns.taskId}` });
        return { tasks: status === 'failed' ? [task('other'), longer, anns] : [] };
      },
    } as unknown as OperatorReads;
    expect(await findTask(anns.taskId.toUpperCase(), undefined, reads)).toEqual(anns);
    const createdAt = createdAtOf(anns.taskId);
    const expected = { createdFrom: createdAt, createdUntil: createdAt, taskId: anns.taskId };
    expect(asked).toEqual(STATUSES.map(() => expected));
  });
});

test.each([
  ['01m81rnzam'.padEnd(36, '0'), true],
  [`${'s'.repeat(26)}_${'0'.repeat(36)}`, true],
  [`…${'0'.repeat(36)}`, true],
  [`0…${'0'.repeat(35)}`, false],
  [`0...${'0'.repeat(35)}`, false],
  ['0'.repeat(35), false],
  [`x${'0'.repeat(36)}`, false],
  [`${'0'.repeat(36)}x`, false],
])('%s is a whole id: %s', (id, whole) => {
  expect(isWholeId(id)).toBe(whole);
});
