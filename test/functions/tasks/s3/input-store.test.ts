import { describe, expect, test } from 'vitest';
import { limits } from '../../../../functions/tasks/limits.ts';
import { questionProblem } from '../../../../functions/tasks/questions/question-problem.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { roundInput } from '../../../../functions/tasks/round-input.ts';
import { InputLost, inputStore } from '../../../../functions/tasks/s3/input-store.ts';
import { isLarge, moved, sizeOf } from '../../../../functions/tasks/s3/moved-input.ts';
import { isKnown } from '../../../../functions/tasks/table/known-record.ts';
import { question, taskIn } from '../../../contract/tasks.ts';
import { createObjects } from '../../../support/engine/objects.ts';

const text = JSON.stringify({ text: 'größer "quoted" '.repeat(500), n: 9007199254740991 });
const answers = { 'r1.a': '{"action":"accept"}', 'r2.__proto__': `{"action":"accept","content":${text}}` };
const whole: TaskRecord = { ...taskIn('input_required'), arguments: text, inputResponses: answers };
const keep = async (record: TaskRecord, objects = createObjects()) => {
  const { record: slim, text: rest } = moved(record);
  await inputStore(objects).put(slim, rest);
  return { slim, objects, fresh: inputStore(objects) };
};

describe('input that was moved', () => {
  test('comes back unchanged, byte for byte, and starts the same round', async () => {
    const { slim, fresh } = await keep(whole);
    expect(isKnown(slim)).toBe(true);
    expect(isLarge(slim)).toBe(false);
    const { version: _, ...expected } = whole;
    const { version: __, ...found } = await fresh.whole(slim);
    expect(found).toEqual(expected);
    expect(roundInput(await fresh.whole(slim), text)).toBe(roundInput(whole, text));
  });

  test('what the record itself holds is newer: questions of the next round, answers to them', async () => {
    const { slim, fresh } = await keep({ ...whole, status: 'working' });
    const asked = JSON.stringify({ inputRequests: { c: question } });
    const next = {
      ...slim,
      status: 'input_required' as const,
      asked,
      inputResponses: { 'r2.c': '{"action":"cancel"}' },
    };
    const found = await fresh.whole(next);
    expect(found).toMatchObject({ asked, arguments: text });
    expect(found.inputResponses).toEqual({ ...answers, 'r2.c': '{"action":"cancel"}' });
  });

  test('moved again, it counts as much as before it was moved', async () => {
    const { slim, fresh } = await keep(whole);
    expect(sizeOf({ ...slim, inputResponses: {} })).toBeGreaterThanOrEqual(sizeOf(whole));
    expect(sizeOf(slim) - sizeOf(whole)).toBeLessThan(10);
    expect(moved(await fresh.whole(slim)).record.inputRef).toBe(slim.inputRef);
  });

  test('counts towards what a tool may ask: too much of both is refused, as it is in one record', async () => {
    const { slim } = await keep({ ...whole, status: 'working', arguments: 'x'.repeat(limits.asked - 20_000) });
    const asking = (bytes: number) => {
      const params = { message: 'm'.repeat(bytes), requestedSchema: { type: 'object', properties: {} } };
      const asked = JSON.stringify({ inputRequests: { c: { ...question, params } } });
      return questionProblem({ ...slim, status: 'input_required', round: 3, asked })?.error.data;
    };
    expect(asking(5_000)).toBeUndefined();
    expect(asking(20_000)).toEqual({ reason: 'InputRequestTooLarge' });
  });
});

describe('input that cannot be read', () => {
  const other = async (text: string | undefined) => {
    const { slim, objects, fresh } = await keep(whole);
    const [key = ''] = objects.objects.keys();
    if (text === undefined) objects.objects.clear();
    else objects.objects.set(key, text);
    return fresh.whole(slim);
  };

  test('is lost if it is gone, or is another text', async () => {
    await expect(other(undefined)).rejects.toThrow(InputLost);
    await expect(other('{}')).rejects.toThrow(InputLost);
    await expect(other(moved({ ...whole, arguments: '{}' }).text)).rejects.toThrow(InputLost);
  });

  test('is not lost while S3 is out of reach, or refuses', async () => {
    const { slim, objects, fresh } = await keep(whole);
    for (const code of ['SlowDown', 'ECONNREFUSED', 'AccessDenied']) {
      objects.state.down = code;
      await expect(fresh.whole(slim)).rejects.toMatchObject({ name: 'ResultStoreError', code });
    }
    delete objects.state.down;
    expect((await fresh.whole(slim)).arguments).toBe(text);
  });
});

test('what a container has put or read it does not read again; a small record costs no call', async () => {
  const { slim, objects, fresh } = await keep(whole);
  await fresh.whole(slim);
  await fresh.whole(slim);
  await fresh.whole(taskIn('input_required'));
  expect(objects.did).toEqual(['PUT', 'GET']);
  const own = inputStore(objects);
  await own.put(slim, moved(whole).text);
  await own.whole(slim);
  expect(objects.did).toEqual(['PUT', 'GET', 'PUT']);
});

test('the input of all tasks that a session stream checks is read once', async () => {
  const tasks = Array.from({ length: limits.sessionStream.tasks }, (_, i) => ({ ...whole, taskId: `task${i}` }));
  const objects = createObjects();
  const slims: TaskRecord[] = [];
  for (const [i, task] of tasks.entries()) {
    const { record, text: rest } = moved({ ...task, arguments: JSON.stringify(i) });
    await inputStore(objects).put(record, rest);
    slims.push(record);
  }
  const fresh = inputStore(objects);
  for (let look = 0; look < 3; look++) for (const slim of slims) await fresh.whole(slim);
  expect(objects.did.filter((did) => did === 'GET')).toHaveLength(tasks.length);
});

test('it lies in a folder of its task that no tool may write, under its hash', async () => {
  const { slim, objects } = await keep(whole);
  const [hash] = slim.inputRef?.split('.') ?? [];
  expect([...objects.objects.keys()]).toEqual([expect.stringMatching(`^inputs/[0-9a-f]{64}/${slim.taskId}/${hash}$`)]);
});

test('of the inputs only the latest stay in memory; one that is lost has its name', async () => {
  const objects = createObjects();
  const store = inputStore(objects);
  const most = limits.sessionStream.tasks;
  const slims: TaskRecord[] = [];
  const put = async (n: number) => {
    const { record, text: rest } = moved({ ...whole, arguments: `${n}` });
    await store.put(record, rest);
    slims.push(record);
  };
  for (let n = 0; n < most; n++) await put(n);
  const [first, second] = slims as [TaskRecord, TaskRecord];
  await store.whole(first);
  await put(most);
  // The one that was used the longest ago has gone, and the one that was just read has not.
  await store.whole(first);
  expect(objects.did).not.toContain('GET');
  await store.whole(second);
  expect(objects.did.filter((what) => what === 'GET')).toHaveLength(1);
  expect(new InputLost().name).toBe('InputLost');
});
