import { describe, expect, test } from 'vitest';
import { executionName, listPartition, newTaskKey, type Principal, taskKey } from '../../../functions/tasks/ids.ts';

const principals: Principal[] = [
  { kind: 'verified', key: 'owner-1' },
  { kind: 'anonymous' },
  { kind: 'anonymous', session: 'session-1' },
];

describe('task ids', () => {
  test.each(principals)('the creator finds the key again from the id: %o (F-15)', (principal) => {
    const key = newTaskKey(principal, Date.now());
    expect(taskKey(principal, key.taskId)).toEqual(key);
  });

  test('another owner reads another partition, so a foreign task is not found (C-35, F-15)', () => {
    const { taskId, owner } = newTaskKey({ kind: 'verified', key: 'a' }, Date.now());
    expect(taskKey({ kind: 'verified', key: 'b' }, taskId)?.owner).not.toBe(owner);
  });

  test('without auth the id is enough to find the task, from either era (C-36)', () => {
    const inSession = newTaskKey({ kind: 'anonymous', session: 's' }, Date.now());
    expect(taskKey({ kind: 'anonymous' }, inSession.taskId)).toEqual(inSession);
    const alone = newTaskKey({ kind: 'anonymous' }, Date.now());
    expect(taskKey({ kind: 'anonymous', session: 'other' }, alone.taskId)).toEqual(alone);
  });

  test('a session lists exactly the partition its tasks lie in (C-23)', () => {
    const principal: Principal = { kind: 'anonymous', session: 's' };
    expect(newTaskKey(principal, 1).owner).toBe(listPartition(principal));
    expect(listPartition({ kind: 'anonymous' })).toBeUndefined();
  });

  test('an id holds at least 128 random bits and never repeats (C-36, E-30)', () => {
    const ids = Array.from({ length: 2_000 }, () => newTaskKey({ kind: 'anonymous' }, 1).taskId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => /^[0-9a-hjkmnp-tv-z]{36}$/.test(id))).toBe(true);
    // Each of the last 26 characters takes all 32 values: 130 bits.
    for (let at = 10; at < 36; at++) expect(new Set(ids.map((id) => id[at])).size).toBe(32);
  });

  test('ids of one owner sort by creation', () => {
    const at = (ms: number) => newTaskKey({ kind: 'verified', key: 'o' }, ms).taskId;
    const ids = [1, 1_000, 1_700_000_000_000, 1_700_000_000_001].map(at);
    expect([...ids].sort()).toEqual(ids);
  });

  test.each([
    undefined,
    5,
    '',
    'x',
    '../..',
    'a'.repeat(37),
    `${'a'.repeat(25)}_${'a'.repeat(36)}`,
    `${'i'.repeat(36)}`,
  ])('what cannot be an id of this server is refused without a read: %o (C-28)', (id) => {
    for (const principal of principals) expect(taskKey(principal, id)).toBeUndefined();
  });

  test('an execution name fits Step Functions: 80 characters, no special ones', () => {
    const { taskId } = newTaskKey({ kind: 'anonymous', session: 's' }, Date.now());
    expect(executionName(taskId, 999_999)).toMatch(/^[A-Za-z0-9_-]{1,80}$/);
  });
});
