import { describe, expect, test } from 'vitest';
import { rerunTask } from '../../../../functions/operator/acts/rerun.ts';
import { after } from '../../../../functions/tasks/transitions/change.ts';
import { withdraw } from '../../../../functions/tasks/transitions/end.ts';
import { ann, arnOf, denied, KEY, MINUTE, operatorOn, repeating, T0, task } from '../operators.ts';
import { completed, EFFECTS, neverStarted, rerun } from './reruns.ts';

describe('a rerun of a task that may have run', () => {
  test.each([
    ['it has another reason', neverStarted({ failure: 'ToolFailed' })],
    ['it is on Express', neverStarted({ engine: 'express' })],
    ['it is in round 2', neverStarted({ round: 2 })],
    ['its run was seen', neverStarted({ seenRound: 1 })],
    ['it has a result', neverStarted({ result: '1' })],
    ['its run wrote when it began', neverStarted({ events: [{ at: T0, what: 'failed', startedAt: T0 }] })],
    ['it was cancelled', neverStarted({ status: 'cancelled' })],
    ['it is completed', completed()],
  ])('is refused without --force: %s', async (_why, record) => {
    const server = operatorOn([record]);
    expect(await rerun(server)).toMatchObject({ done: false, message: EFFECTS });
    expect(server.did).toEqual([]);
    expect(server.audited).toMatchObject([{ act: 'rerun', done: false }]);
    expect(await rerun(server, true)).toMatchObject({ done: true });
  });

  test('is refused also with --force if its client got HTTP 429, and calls again', async () => {
    const first = task({ kept: '{"n":1}' });
    const withdrawn = after(first, withdraw(first, T0 + 5));
    const message = 'Not run again: its client got HTTP 429 in place of a task, and calls again';
    for (const force of [false, true]) {
      const server = operatorOn([withdrawn]);
      expect(await rerunTask(KEY, force, ann, repeating(server))).toMatchObject({ done: false, message });
      expect(server.did).toEqual([]);
    }
  });

  test('is refused without --force and a key if it never ran: its client may have called again', async () => {
    const unkeyed = neverStarted();
    delete (unkeyed as { digest?: string }).digest;
    const server = operatorOn([unkeyed]);
    const message =
      "Not run again: its client got an error in place of a task, and may have called 'tool' again. --force does it all the same";
    expect(await rerun(server)).toMatchObject({ done: false, message });
    expect(server.did).toEqual([]);
    expect(await rerun(server, true)).toMatchObject({ done: true });
    expect(await rerun(operatorOn([{ ...unkeyed, rerunOf: 'first' }]))).toMatchObject({ done: true });
  });

  test('is refused if Step Functions knows a run, or may not be asked, though its record says no', async () => {
    const server = operatorOn([neverStarted()]);
    server.executions.put(arnOf(), { status: 'ABORTED' });
    expect(await rerun(server)).toMatchObject({ done: false, message: EFFECTS });
    const states = { send: async () => Promise.reject(denied()) } as never;
    const blind = operatorOn([neverStarted()], {}, { states });
    expect(await rerun(blind)).toMatchObject({ done: false, message: EFFECTS });
    expect(blind.did).toEqual([]);
  });

  test('is done without --force if its tool can be repeated, or if it never ran', async () => {
    expect(await rerun(operatorOn([completed()], { repeatable: true }))).toMatchObject({ done: true });
    expect(await rerun(operatorOn([neverStarted()]))).toMatchObject({ done: true });
    const older = operatorOn([neverStarted()]);
    older.executions.put(arnOf(), { status: 'SUCCEEDED', startDate: T0 - 2 * MINUTE });
    expect(await rerun(older)).toMatchObject({ done: true });
  });
});
