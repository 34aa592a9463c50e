import { expect, test } from 'vitest';
import { fileStore } from '../../../functions/tasks/files/file-items.ts';
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
    expect(await store().writeFile(run, file(1))).toBe(true);
    expect(await store().writeFile({ ...run, round: 2 }, file(2))).toBe(false);
    expect(await store().readFiles({ ...run, round: 2 })).toEqual([file(1)]);
    expect(await store().readFiles(later)).toEqual([]);
    expect(await store().writeFile(later, file(3))).toBe(true);
    expect(await store().readFiles(later)).toEqual([file(3)]);
    expect(await store().writeFile(run, file(4))).toBe(false);
  });
}
