import { isDeepStrictEqual } from 'node:util';
import type { Received } from '../../../../functions/engine/receive.ts';
import { lapse } from '../../../../functions/tasks/deadlines.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import type { Signal, ToolEvent } from '../../../../functions/tasks/tool-contract.ts';
import { isTerminal } from '../../../../functions/tasks/transitions/change.ts';
import { storedSignals } from '../../../../functions/tasks/waits/signals.ts';
import { nextCheck, waitsOf } from '../../../../functions/tasks/waits/waits.ts';
import { firstOf } from '../simulation/tool-waits.ts';
import type { TaskTruth, Truth } from './truth.ts';
import { type RecordWrite, SKEW } from './writes.ts';

/** In ms: a sweep each minute, its own work, and clocks that differ. */
const WAKE_UP = 75_000;

type Must = (holds: boolean, rule: string) => void;

/** What must hold of waits and signals in each write of a record. */
export function checkWaits({ before, after, now }: RecordWrite, task: TaskTruth, truth: Truth, must: Must): void {
  const begins = before !== undefined && before.round < after.round;
  if (!isTerminal(after.status)) {
    const kept = storedSignals(after).map(([name]) => name);
    const lost = [...task.waits].some(([name, { stored }]) => stored !== undefined && !kept.includes(name));
    must(!lost, 'The first signal counts, once');
  }
  for (const [name, stored] of storedSignals(after)) {
    const wait = task.waits.get(name);
    if (wait === undefined) {
      must(false, 'A signal is for a wait of the tool');
      continue;
    }
    must(wait.stored === undefined || isDeepStrictEqual(wait.stored, stored), 'The first signal counts, once');
    if (wait.stored !== undefined) continue;
    wait.stored = stored;
    if ('timedOut' in stored.signal) must(begins && now + SKEW >= wait.until, 'No wait is over before its time');
    else
      must(
        wait.sent.some((sent) => isSame(sent, stored.signal)),
        'A signal was sent',
      );
  }
  if (after.status === 'waiting' && lapse(after, now) === undefined) {
    const next = nextCheck(after);
    must((after.dueAt ?? 0) <= Math.max(now + SKEW, next), 'The sweep comes when a wait is over');
  }
  if (before === undefined) return;
  if (begins && before.status === 'waiting') {
    const over = Object.entries(waitsOf(before) ?? {}).some(([name, wait]) => {
      if (wait.kind === 'more') return true;
      return wait.kind === 'time' ? now + SKEW >= wait.until : task.waits.get(name)?.stored !== undefined;
    });
    must(over, 'A round begins when one of the waits before it is over');
  }
  if (before.status === 'waiting' && after.status !== 'cancelled') checkInTime(before, after, now, truth, must);
}

function checkInTime(before: TaskRecord, after: TaskRecord, now: number, truth: Truth, must: Must): void {
  if (truth.calmSince === undefined || waitsOf(before) === undefined || after.status === 'waiting') return;
  const over = Math.max(nextCheck(before), before.updatedAt, truth.calmSince);
  must(Math.min(now, before.deadlineAt) <= over + WAKE_UP, 'A wake-up comes in time');
}

/** What must hold when the tool begins: it gets what came before its round, and nothing else. */
export function checkSignals({ signals = {}, task }: ToolEvent, truth: Truth): void {
  const { taskId = '', round = 0 } = task ?? {};
  const waits = [...(truth.task(taskId)?.waits ?? [])];
  const expected = waits.flatMap(([name, { stored }]) =>
    stored !== undefined && stored.round < round ? [[name, stored.signal] as const] : [],
  );
  if (isDeepStrictEqual(signals, Object.fromEntries(expected))) return;
  truth.violated(`A run gets what came before its round: ${taskId} round ${round} got ${JSON.stringify(signals)}`);
}

/** A race of a tool ends the same in each of its runs. */
export function checkFirst(event: ToolEvent, truth: Truth): void {
  const task = truth.task(event.task?.taskId ?? '');
  const first = firstOf(event);
  if (task === undefined || first === undefined) return;
  task.first ??= first;
  if (task.first !== first) truth.violated(`A race ends the same in each run: ${task.first}, and later ${first}`);
}

/** What must hold when a sender is answered. */
export function checkReceived(received: Received, taskId: string, name: string, now: number, truth: Truth): void {
  const task = truth.task(taskId);
  const wait = task?.waits.get(name);
  const { outcome, signal } = received;
  if (task === undefined || wait === undefined) return;
  if (signal !== undefined) {
    if (!isDeepStrictEqual(wait.stored?.signal, signal)) {
      truth.violated(`A signal that was acknowledged counts: ${taskId} ${name} ${outcome}`);
    }
    return;
  }
  const { record } = task;
  const late = now + SKEW >= Math.min(wait.until, record.deadlineAt);
  if (late || isTerminal(record.status) || lapse(record, now + SKEW) !== undefined) return;
  truth.violated(`A signal is taken while its wait is open: ${taskId} ${name}`);
}

const isSame = (sent: object, { at: _, ...signal }: Signal & { readonly at?: number }): boolean =>
  isDeepStrictEqual(sent, signal);
