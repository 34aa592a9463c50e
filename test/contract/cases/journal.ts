import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { limits } from '../../../functions/tasks/limits.ts';
import type { Entry } from '../../../functions/tasks/table/journal-items.ts';
import type { RunKey } from '../../../functions/tasks/table/run-items.ts';
import type { Referee } from '../referee.ts';
import { newTask, now } from '../tasks.ts';

/** The entries in the journal of a task. */
export function journalContract(referee: () => Referee): void {
  const store = () => referee().store;
  const newRun = (): RunKey => {
    const { owner, taskId, deadlineAt } = newTask();
    return { owner, taskId, round: 1, deadline: deadlineAt };
  };
  const keyOf = ({ owner, taskId }: RunKey, end: string) => ({ owner: `progress#${owner}`, taskId: taskId + end });
  const item = async (run: RunKey, end: string) =>
    (await referee().db.send(new GetCommand({ TableName: referee().table, Key: keyOf(run, end) }))).Item;
  const step = (name: string, value: unknown): Entry => ({ kind: 'step', name, value: JSON.stringify(value) });
  const entriesOf = async (run: RunKey) => (await store().readJournal(run)).entries;

  test('the first entry of a kind and name counts, for all rounds and attempts', async () => {
    const run = newRun();
    expect(await entriesOf(run)).toEqual([]);
    expect(await store().writeEntry(run, step('naïve 🔑 #step#\n', 1))).toBe(true);
    expect(await store().writeEntry({ ...run, round: 2 }, step('naïve 🔑 #step#\n', 2))).toBe(false);
    expect(await store().writeEntry(run, { ...step('naïve 🔑 #step#\n', 3), kind: 'wait' })).toBe(true);
    const found = await entriesOf({ ...run, round: 2 });
    expect(found).toEqual([step('naïve 🔑 #step#\n', 1), { ...step('naïve 🔑 #step#\n', 3), kind: 'wait' }]);
    expect(await store().readEntry(run, found[0] as Entry)).toEqual(found[0]);
    expect(await store().readEntry(run, { kind: 'step', name: 'naïve' })).toBeUndefined();
  });

  test('an entry keeps all that it may hold', async () => {
    const run = newRun();
    const all: Entry[] = [
      { ...step('a', null), variables: '{"n":1}', round: 1, order: 7 },
      { kind: 'step', name: 'b', bytes: 5_000, sha256: 'f'.repeat(64) },
      { kind: 'step', name: 'c', misfit: 'is not JSON' },
      { kind: 'step', name: 'd', begun: 'run' },
    ];
    for (const entry of all) expect(await store().writeEntry(run, entry)).toBe(true);
    expect(await entriesOf(run)).toEqual(all);
  });

  test('what a run has begun, only that run can replace, once', async () => {
    const run = newRun();
    const begun: Entry = { kind: 'step', name: 's', begun: 'mine' };
    expect(await store().writeEntry(run, begun)).toBe(true);
    expect(await store().writeEntry(run, { ...begun, begun: 'other' })).toBe(false);
    expect(await store().writeEntry(run, step('s', 0), 'other')).toBe(false);
    expect(await store().writeEntry(run, step('s', 1), 'mine')).toBe(true);
    expect(await store().writeEntry(run, step('s', 2), 'mine')).toBe(false);
    expect(await entriesOf(run)).toEqual([step('s', 1)]);
  });

  test('the amount of the last report comes with the entries', async () => {
    const run = newRun();
    await store().writeEntry(run, step('s', 1));
    expect(await store().readJournal(run)).toEqual({ entries: [step('s', 1)] });
    await store().report(run, { message: 'm', progress: 1 }, now);
    expect(await store().readJournal(run)).toEqual({ entries: [step('s', 1)], reported: { progress: 1 } });
    await store().report(run, { message: 'm', progress: 2, total: 3 }, now);
    expect((await store().readJournal(run)).reported).toEqual({ progress: 2, total: 3 });
    await store().report(run, { message: 'm' }, now);
    expect((await store().readJournal(run)).reported).toBeUndefined();
  });

  test('entries of other tasks of the owner are not read', async () => {
    const [run, other] = [newRun(), newRun()];
    await store().writeEntry({ ...other, owner: run.owner }, step('s', 1));
    expect(await entriesOf(run)).toEqual([]);
    expect(await entriesOf({ ...other, owner: run.owner })).toHaveLength(1);
  });

  test('entries of an older task with the same key are not read, and stop no run', async () => {
    const run = newRun();
    const old = { ...run, round: 3, deadline: now - 2 * limits.retention };
    await store().report(old, { message: 'm', progress: 1 }, now);
    const entry = { ...step('s', 'old'), misfit: 'old', variables: '{}', round: 3, order: 1 };
    expect(await store().writeEntry(old, entry)).toBe(true);
    expect(await store().readJournal(run)).toEqual({ entries: [] });
    expect(await store().readEntry(run, entry)).toBeUndefined();
    expect(await store().writeEntry(run, step('s', 'new'))).toBe(true);
    expect(await entriesOf(run)).toEqual([step('s', 'new')]);
  });

  test('entries expire a day after the deadline', async () => {
    const run = newRun();
    await store().writeEntry(run, step('s', 1));
    const expiresAt = Math.ceil((run.deadline + limits.retention) / 1_000);
    expect(await item(run, '#step#s')).toEqual({ ...keyOf(run, '#step#s'), value: '1', expiresAt });
  });

  test('more than a page of entries is read, in the order of their names', async () => {
    const run = newRun();
    const large = 'x'.repeat(90_000);
    const names = Array.from({ length: 15 }, (_, i) => `${i}`.padStart(2, '0'));
    for (const name of names) await store().writeEntry(run, step(name, large));
    expect((await entriesOf(run)).map(({ name }) => name)).toEqual(names);
  });

  test('what is no entry, or has the wrong type, is left out', async () => {
    const run = newRun();
    const put = (end: string, value: unknown) =>
      referee().db.send(
        new UpdateCommand({
          ...{ TableName: referee().table, Key: keyOf(run, end) },
          UpdateExpression: 'SET #value = :value, #order = :value, #expiresAt = :expiresAt',
          ExpressionAttributeNames: { '#value': 'value', '#order': 'order', '#expiresAt': 'expiresAt' },
          ExpressionAttributeValues: { ':value': value, ':expiresAt': Math.ceil(run.deadline / 1_000) },
        }),
      );
    for (const end of ['#step#', '#other#s', '#memory', 'x#step#s']) await put(end, '1');
    await put('#step#number', 7);
    await put('#step#list', [1]);
    expect(await entriesOf(run)).toEqual([
      { kind: 'step', name: 'list' },
      { kind: 'step', name: 'number', order: 7 },
    ]);
  });
}
