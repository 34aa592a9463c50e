import { expect, test } from 'vitest';
import { fileStore } from '../../../functions/tasks/files/file-items.ts';
import { DAY } from '../../../functions/tasks/limits.ts';
import type { Referee } from '../referee.ts';
import { newTask } from '../tasks.ts';

/** The notes of the files of a task. */
export function filesContract(referee: () => Referee): void {
  const store = () => fileStore(referee().dynamoDb, referee().table);
  const file = (bytes: number) => ({
    id: 'A'.repeat(22),
    name: 'a.txt',
    type: 'text/plain',
    bytes,
    sha256: '0'.repeat(64),
  });

  test('the first note of a name counts, until a later task with the same key has one', async () => {
    const { owner, taskId, deadlineAt: deadline } = newTask();
    const run = { owner, taskId, round: 1, deadline };
    const later = { ...run, deadline: deadline + 1_000 };
    expect(await store().writeFile(run, file(1), DAY)).toBe(true);
    expect(await store().writeFile({ ...run, round: 2 }, file(2), DAY)).toBe(false);
    expect(await store().readFiles({ ...run, round: 2 })).toEqual([file(1)]);
    expect(await store().readFiles(later)).toEqual([]);
    expect(await store().writeFile(later, file(3), DAY)).toBe(true);
    expect(await store().readFiles(later)).toEqual([file(3)]);
    expect(await store().writeFile(run, file(4), DAY)).toBe(false);
    // A file that is listed for longer is still of its task only.
    expect(await store().writeFile(run, file(5), 2 * DAY)).toBe(true);
    expect([await store().readFiles(run), await store().readFiles(later)]).toEqual([[file(5)], []]);
  });
}
