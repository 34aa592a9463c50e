import { expect, test } from 'vitest';
import { elicitForm, type InputRequest, type Task } from '../../../../functions/tool/index.ts';
import { runTool } from '../../../../functions/tool/testing.ts';
import { toolOf } from './support.ts';

const FILES = ['draft', 'thesis', 'photos'];
const question = (file: string) => elicitForm(`Delete ${file}?`, {});

/** A person who accepts that the draft is deleted, and nothing else. */
const person = ({ params }: InputRequest) =>
  (params as { message: string }).message.includes('draft')
    ? ({ action: 'accept', content: {} } as const)
    : ({ action: 'decline' } as const);
const answers = Object.fromEntries(
  ['sure', ...Array.from({ length: 20 }, (_, i) => `sure~${i + 2}`)].map((name) => [name, person]),
);

/** What a tool deletes that asks by `confirm` before each file. */
async function deletedBy(
  run: (task: Task, confirm: (file: string) => Promise<void>) => unknown,
  direct = false,
): Promise<string[]> {
  const deleted: string[] = [];
  const tool = toolOf(async (task) => {
    const confirm = async (file: string) => {
      const { sure } = await task.requireInput({ sure: question(file) });
      if (sure.action === 'accept') deleted.push(file);
    };
    await run(task, confirm);
    return { done: true };
  });
  await runTool(tool, {}, { answers, direct });
  return deleted;
}

async function inSteps(task: Task, confirm: (file: string) => Promise<void>): Promise<void> {
  for (const file of FILES) await task.step(file, () => confirm(file));
}

test.each([true, false])('each step that asks under one key gets its own answer, direct %s', async (direct) => {
  expect(await deletedBy(inSteps, direct)).toEqual(['draft']);
});

test.each([1, 10])('each item of a map does, too, %i at a time', async (concurrency) => {
  const files = [...FILES, ...Array.from({ length: 9 }, (_, i) => `file ${i}`)];
  expect(await deletedBy((task, confirm) => task.map('delete', files, confirm, { concurrency }))).toEqual(['draft']);
});

test('and so does a question after the steps', async () => {
  const after = async (task: Task, confirm: (file: string) => Promise<void>) => {
    await task.step('first', () => confirm('draft'));
    await confirm('thesis');
  };
  expect(await deletedBy(after)).toEqual(['draft']);
});

test('another try of a step gets the answer that the first try got', async () => {
  let failures = 1;
  const failing = (task: Task, confirm: (file: string) => Promise<void>) =>
    task.step(
      'delete',
      async () => {
        await confirm('draft');
        if (failures-- > 0) throw new Error('busy');
      },
      { retry: { attempts: 2, backoff: 1 } },
    );
  expect(await deletedBy(failing)).toEqual(['draft', 'draft']);
});

test.each([1, 2])('code beside a step keeps its answer, whichever comes first in round %i', async (slow) => {
  let round = 0;
  const given: string[] = [];
  const tool = toolOf(async (task) => {
    const isSlow = ++round === slow;
    const turns = async (count: number) => {
      for (let turn = 0; turn < count; turn++) await new Promise((next) => setImmediate(next));
    };
    const asks = async (who: string) => {
      const { ok } = await task.requireInput({ ok: elicitForm(who, {}) });
      given.push(`${who}: ${ok.action}`);
      return null;
    };
    const pay = async () => {
      await turns(isSlow ? 10 : 0);
      return asks('pay');
    };
    const outside = async () => {
      await turns(isSlow ? 0 : 10);
      return asks('outside');
    };
    await Promise.all([task.step('pay', pay), outside()]);
  });
  const answer = ({ params }: InputRequest) =>
    ({ action: (params as { message: string }).message === 'pay' ? 'decline' : 'accept', content: {} }) as const;
  await runTool(tool, {}, { answers: { ok: answer, 'ok~2': answer, 'ok~3': answer } });
  expect(given.toSorted()).toEqual(['outside: accept', 'pay: decline']);
});
