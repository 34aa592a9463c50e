import { describe, expect, test } from 'vitest';
import * as deadlines from '../../../functions/tasks/deadlines.ts';
import { failure } from '../../../functions/tasks/failures.ts';
import type { Status, TaskRecord } from '../../../functions/tasks/record.ts';
import { moved } from '../../../functions/tasks/s3/moved-input.ts';
import * as answering from '../../../functions/tasks/transitions/answers.ts';
import * as begin from '../../../functions/tasks/transitions/begin.ts';
import * as changing from '../../../functions/tasks/transitions/change.ts';
import * as end from '../../../functions/tasks/transitions/end.ts';
import * as express from '../../../functions/tasks/transitions/express.ts';
import * as run from '../../../functions/tasks/transitions/run.ts';
import * as waiting from '../../../functions/tasks/transitions/waits.ts';
import { applied } from '../../functions/tasks/applied.ts';
import type { Referee } from '../referee.ts';
import { newTask, now, taskIn } from '../tasks.ts';

const transitions = { ...answering, ...begin, ...changing, ...end, ...run, ...waiting };
type Change = changing.Change;

const later = now + 1_000;
const failed = failure('ToolFailed', { reason: 'X' });
const signal = { round: 2, signal: { body: { n: 1 }, at: later } };
const WAITS = '{"a":{"kind":"link","until":5},"b":{"kind":"webhook","until":6}}';
const answers = { 'r2.a': '{"action":"accept","content":{"n":9007199254740993}}' };

function none(): never {
  throw new Error('there is no such change');
}

/** Every change, as decided on this record. */
const changes: Readonly<Record<string, (record: TaskRecord) => Change>> = {
  cancel: () => transitions.cancel(later),
  fail: () => transitions.fail(failed, later),
  askFirst: (record) => transitions.askFirst(record, '{"inputRequests":{}}', '{}', later),
  refuseAnswer: (record) => transitions.refuseAnswer(record, 'r2.b', later),
  'answer, some of it': (record) => transitions.answer(record, ['r2.a', 'r2.b'], answers, later),
  loseInput: (record) => transitions.loseInput(record, later),
  withInputApart: (record) => {
    const change = transitions.answer(record, ['r2.a'], answers, later);
    return transitions.withInputApart(change, moved(transitions.after(record, change)).record);
  },
  'answer, the last of it': (record) => transitions.answer(record, ['r2.a'], answers, later),
  'answer, the last of it, on Express': (record) => transitions.answer(record, ['r2.a'], answers, later, 'express'),
  failAsSeen: (record) => transitions.failAsSeen(record, failed, later),
  withdraw: (record) => transitions.withdraw(record, later),
  keyExpired: (record) => transitions.keyExpired(record, later),
  confirmStart: (record) => transitions.confirmStart(record, later),
  finish: (record) => transitions.finish(record, { text: '[1]', asks: false, isError: true }, '{}', later),
  'finish with questions': (record) =>
    transitions.finish(record, { text: '{"inputRequests":{}}', asks: true, isError: false }, '{}', later),
  'finish with waits': (record) =>
    transitions.finish(
      record,
      { text: '{}', asks: false, isError: false, waits: { a: { kind: 'more' } } },
      '{}',
      later,
    ),
  'receive, early': (record) => transitions.receive({ ...record, status: 'working' }, 'a', signal, later),
  'receive, while it waits': (record) =>
    transitions.receive({ ...record, status: 'waiting', waits: WAITS, signalled: ['b'] }, 'a', signal, later),
  resume: (record) => transitions.resume({ ...record, status: 'waiting' }, 'express', later),
  waitOn: (record) => transitions.waitOn({ ...record, status: 'waiting', waits: '{"a":{"kind":"time","until":5}}' }),
  restarted: (record) => transitions.restarted(record, 'standard', later),
  checkAgain: (record) => transitions.checkAgain(record, later),
  awaitRun: (record) => express.awaitRun(record, later),
  restartOnExpress: (record) => express.restartOnExpress(record, later),
  'restarted on Standard': (record) =>
    transitions.restarted({ ...record, engine: 'express', seenRound: record.round }, 'standard', later),
  startDue: (record) => express.startDue(record, later),
  'overdue, past the deadline': (record) => deadlines.overdue(record, record.deadlineAt + 86_400_000) ?? none(),
  unaskable: (record) => deadlines.unaskable({ ...record, asked: '{}' }) ?? none(),
  'lapse, past the deadline': (record) => deadlines.lapse(record, record.deadlineAt + 86_400_000) ?? none(),
};
/** Other exports of `transitions` and `deadlines.ts`. */
const NO_CHANGES = [
  'isTerminal',
  'isWritten',
  'isWithdrawn',
  'canMove',
  'create',
  'createRefused',
  'after',
  'failVisibleAt',
  'sourcesOf',
  'dueBy',
  'sameDueAt',
  'unanswered',
  'timedOut',
  'asOf',
  'waitAfter',
  'isSeen',
  // They change only what is due of a task that has ended: see below.
  'untilStopped',
  'stopLater',
  'stopped',
];

const open: Status[] = ['working', 'waiting', 'input_required'];
const statuses: Status[] = [...open, 'completed', 'failed', 'cancelled'];

export function changesContract(referee: () => Referee): void {
  const store = () => referee().store;

  test('this suite knows every change of transitions and deadlines.ts', () => {
    const known = [...NO_CHANGES, ...Object.keys(changes).map((name) => name.replace(/[, ].*/, ''))];
    expect(Object.keys({ ...transitions, ...deadlines, ...express }).filter((name) => !known.includes(name))).toEqual(
      [],
    );
  });

  test.each(statuses)(
    'the stop of the run of a task that is %s is noted only once it has ended (row 15)',
    async (is) => {
      const { due: _due, dueAt: _dueAt, ...task } = taskIn(is);
      const ended = transitions.isTerminal(is);
      await store().create(task);
      const later = transitions.stopLater(task, now);
      expect(await store().applyBlind(task, later)).toBe(ended);
      expect(await store().get(task)).toEqual(ended ? { ...task, ...later.set } : task);
      expect(await store().applyBlind(task, transitions.stopped)).toBe(ended);
      expect(await store().get(task)).toEqual(task);
    },
  );

  test('the end of a task keeps it due until its run is stopped (row 15)', async () => {
    const task = taskIn('working');
    await store().create(task);
    const change = transitions.untilStopped(task, transitions.cancel(now), now);
    expect(await store().apply(task, change)).toEqual(applied(task, change));
    expect(await store().get(task)).toMatchObject({ status: 'cancelled', due: task.due, dueAt: change.set.dueAt });
  });

  // A change is made only where `transitions` allows it, the same if nothing is read back, and never in an ended task (C-10, C-27).
  describe.each(Object.entries(changes))('the change %s', (_name, decide) => {
    test.each(open)('decided on a task seen %s: its effect in every status', async (seen) => {
      const decideAndMake = async (is: Status) => {
        const task = taskIn(seen);
        const { owner, taskId } = task;
        const record = { ...taskIn(is), owner, taskId };
        const change = decide(task);
        const expected = applied(record, change);
        if (transitions.isTerminal(is)) expect(expected).toBeUndefined();
        await store().create(record);
        expect(await store().apply(record, change)).toEqual(expected);
        expect(await store().get(record)).toEqual(expected ?? record);

        const other = { ...record, taskId: newTask().taskId };
        await store().create(other);
        expect(await store().applyBlind(other, change)).toBe(expected !== undefined);
        expect(await store().get(other)).toEqual(applied(other, change) ?? other);
      };
      await Promise.all(statuses.map(decideAndMake));
    });

    test('of a task that is not there makes none', async () => {
      const record = taskIn('working');
      expect(await store().apply(record, decide(record))).toBeUndefined();
      expect(await store().applyBlind(record, decide(record))).toBe(false);
      expect(await store().get(record)).toBeUndefined();
    });
  });

  test.each([-1, 1])('a change for round %i from here is refused', async (offset) => {
    const record = taskIn('working');
    await store().create(record);
    const change = transitions.checkAgain({ ...record, round: record.round + offset }, later);
    expect(await store().apply(record, change)).toBeUndefined();
    expect(await store().applyBlind(record, change)).toBe(false);
    expect(await store().get(record)).toEqual(record);
  });

  test.each([express.awaitRun, express.restartOnExpress])(
    '%o is refused once the next check was moved',
    async (decide) => {
      const record = taskIn('working');
      await store().create(record);
      const change = decide(record, later);
      const moved = { ...change, dueAt: (record.dueAt ?? 0) + 1 };
      expect(await store().apply(record, moved)).toBeUndefined();
      expect(await store().applyBlind(record, moved)).toBe(false);
      expect(await store().apply(record, change)).toEqual(applied(record, change));
      expect(await store().applyBlind(record, change)).toBe(false);
    },
  );

  test.each([-1, 1])('an answer decided with %i more answers than there are is refused', async (offset) => {
    const record = taskIn('input_required');
    await store().create(record);
    const change = transitions.answer(record, ['r2.a'], answers, later);
    const other = { ...change, answerCount: (change.answerCount ?? 0) + offset };
    expect(await store().apply(record, other)).toBeUndefined();
    expect(await store().get(record)).toEqual(record);
    expect(await store().apply(record, change)).toEqual(applied(record, change));
  });

  test('an attribute both set and removed is set; a missing one may be removed', async () => {
    const record = newTask();
    await store().create(record);
    const change: Change = {
      from: ['working'],
      set: { statusMessage: 'stays', digest: '' },
      remove: ['statusMessage', 'asked', 'result', 'error', 'due'],
    };
    expect(await store().apply(record, change)).toEqual(applied(record, change));
    expect(await store().get(record)).toMatchObject({ statusMessage: 'stays', digest: '' });
  });
}
