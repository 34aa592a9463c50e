import { describe, expect, test } from 'vitest';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import {
  hashOf,
  isLarge,
  refOf,
  sizeOf,
  withInput,
  workflowKeeps,
} from '../../../../functions/tasks/s3/moved-input.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';

const most = limits.inlineInput;
const [small, large] = ['{}', JSON.stringify('x'.repeat(most))];
const task = { tool: 'x', ttl: 60_000, timeout: 60_000, accepts: [], legacy: false };

/** A new record of a client that can be asked. */
const made = (more: Partial<TaskRecord> = {}): TaskRecord => ({
  ...create({ owner: 'o', taskId: 't' }, task, 0),
  accepts: ['elicitation/create'],
  ...more,
});
/** The same of a client that cannot answer. */
const silent = (more: Partial<TaskRecord> = {}): TaskRecord => {
  const { accepts: _, ...record } = made(more);
  return record;
};

test('input is large by its bytes, with all names and answers, and what else the record holds', () => {
  expect(isLarge({})).toBe(false);
  expect(isLarge({ arguments: 'x'.repeat(most) })).toBe(false);
  expect(isLarge({ arguments: 'x'.repeat(most + 1) })).toBe(true);
  expect(isLarge({ arguments: 'ö'.repeat(most / 2 + 1) })).toBe(true);
  // These stay in the record, so they leave it less room.
  expect(isLarge({ arguments: 'x'.repeat(most - 9), waits: '12345', caller: '1234' })).toBe(false);
  expect(isLarge({ arguments: 'x'.repeat(most - 9), waits: '12345', caller: '12345' })).toBe(true);
  expect(isLarge({ arguments: 'x'.repeat(most - 10), asked: 'y', inputResponses: { 'r1.a': '12345' } })).toBe(false);
  expect(isLarge({ arguments: 'x'.repeat(most - 10), asked: 'y', inputResponses: { 'r1.a': '123456' } })).toBe(true);
});

describe('a new record keeps its arguments', () => {
  test('not at all, if they are small or its client is never asked: the workflow has them', () => {
    for (const [record, args] of [
      [made(), small],
      [silent(), small],
      [silent(), large],
    ] as const) {
      expect(withInput(record, args)).toEqual({ record, keeps: true });
    }
  });

  test('in S3, if they are large and its client may be asked', () => {
    const { record, text = '' } = withInput(made(), large);
    expect(JSON.parse(text)).toMatchObject({ arguments: large, inputResponses: {} });
    expect(record).not.toHaveProperty('arguments');
    expect(refOf(record.inputRef ?? '')).toEqual({
      sha256: hashOf(text),
      bytes: sizeOf({ ...made(), arguments: large }),
    });
  });

  test('on Express always, as a lost round starts again from them', () => {
    expect(withInput(silent({ engine: 'express' }), small).record).toMatchObject({ arguments: small });
    const { record, text = '' } = withInput(silent({ engine: 'express' }), large);
    expect(record).toHaveProperty('inputRef');
    expect(JSON.parse(text)).toMatchObject({ arguments: large, inputResponses: {} });
  });
});

test('the workflow writes the arguments of a round that asks or waits, if the record lacks them', () => {
  expect([workflowKeeps(made()), workflowKeeps(silent())]).toEqual([true, true]);
  expect(workflowKeeps(made({ inputRef: 'hash.1' }))).toBe(false);
  expect(workflowKeeps(made({ engine: 'express' }))).toBe(false);
});

test('the size of input that was moved counts beside what the record holds', () => {
  const here = sizeOf(made({ arguments: small }));
  expect(sizeOf(made({ arguments: small, inputRef: 'hash.1000' }))).toBe(here + 1_000);
});
