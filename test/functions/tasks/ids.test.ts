import { describe, expect, test } from 'vitest';
import {
  bindingOf,
  executionName,
  listPartition,
  newSessionKey,
  newTaskKey,
  type Principal,
  sessionPartition,
  shardOf,
  taskKey,
  verifiedKey,
} from '../../../functions/tasks/ids.ts';

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

  test('an id holds at least 128 random bits and never repeats (C-08, C-36, E-30)', () => {
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
    ['a'.repeat(36)],
  ])('what cannot be an id of this server is refused without a read: %o (C-28)', (id) => {
    for (const principal of principals) expect(taskKey(principal, id)).toBeUndefined();
  });

  test('an execution name fits Step Functions: 80 characters, no special ones', () => {
    const { taskId } = newTaskKey({ kind: 'anonymous', session: 's' }, Date.now());
    expect(executionName(taskId, 999_999)).toMatch(/^[A-Za-z0-9_-]{1,80}$/);
  });

  test('an idempotency key gives the same id again, to the same caller alone (F-15)', () => {
    const idOf = (principal: Principal, name: string) => newTaskKey(principal, Date.now(), name).taskId;
    for (const principal of principals) expect(idOf(principal, 'k')).toBe(idOf(principal, 'k'));
    expect(new Set(principals.map((principal) => idOf(principal, 'k'))).size).toBe(3);
    expect(idOf({ kind: 'anonymous' }, 'k')).not.toBe(idOf({ kind: 'anonymous' }, 'l'));
    // Where it lies follows from this text: another one would start a second task under a key that has one.
    expect(idOf({ kind: 'verified', key: 'o' }, 'k')).toBe('tx74hvgbtkqa4w3mtwjcaedtp92sm8r3jb84');
    expect(taskKey({ kind: 'anonymous' }, idOf({ kind: 'anonymous' }, 'k'))).toBeDefined();
  });

  test('records lie where they lay: every release has these keys', () => {
    expect(verifiedKey('https://issuer.example', 'user', 'ann')).toBe('owner#7awjakgvs3ndwz2vm1x84rqj0y');
    expect(sessionPartition('s')).toBe('session#4th7m5jxa5dyhzdw2pehefzwzj');
    expect(executionName('t', 2)).toBe('t-r2');
  });

  test.each([8, 16, 50])('ids are spread evenly over %s shards', (shards) => {
    const tasks = 100 * shards;
    const counts = Array<number>(shards).fill(0);
    for (let i = 0; i < tasks; i++) {
      const { taskId } = newTaskKey({ kind: 'anonymous' }, i, i % 2 === 0 ? undefined : `key ${i}`);
      const shard = shardOf(taskId, shards);
      counts[shard] = (counts[shard] ?? 0) + 1;
    }
    // Six standard deviations of a hundred.
    expect(counts.filter((count) => count < 40 || count > 160)).toEqual([]);
  });

  test('a letter that no id has counts as the first one', () => {
    expect(['00', 'z0', '0z', 'i1', '#t'].map((id) => shardOf(id, 16))).toEqual([0, 0, 15, 1, 10]);
  });

  test('a sealed token is bound to the owner, or to the session of an anonymous caller (F-15)', () => {
    expect(principals.map(bindingOf)).toEqual(['owner-1', 'anonymous', 'session-1']);
  });

  test('an owner lists what is his, an anonymous caller what is of the session', () => {
    expect(principals.map(listPartition)).toEqual(['owner-1', undefined, sessionPartition('session-1')]);
  });

  test('an id begins with the time of its creation, in ten digits of base 32', () => {
    const { taskId } = newTaskKey({ kind: 'anonymous' }, 32 ** 2 + 31);
    expect(taskId.slice(0, 10)).toBe('000000010z');
  });

  test('a session key has 26 random characters', () => {
    expect(newSessionKey()).toMatch(/^[0-9a-hjkmnp-tv-z]{26}$/);
    expect(newSessionKey()).not.toBe(newSessionKey());
  });
});
