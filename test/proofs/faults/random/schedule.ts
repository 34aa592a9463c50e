import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ENGINES } from '../../../../functions/tasks/engines.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { isTerminal } from '../../../../functions/tasks/transitions/change.ts';
import { createRandom } from '../../../../local/testing.ts';
import { judgeTold, type Told } from '../../told-rules.ts';
import type { CloudControl } from '../cloud-control.ts';
import { cancels, legacyClient, modernClient } from './client.ts';
import { judge, type Violation } from './judge/judge.ts';
import { startsIn, writesIn } from './judge/writes.ts';
import { lastLooks, lastStreams } from './last-looks.ts';
import { type Life, live, liveOn, newLife } from './life.ts';
import type { Connect } from './operators/connect.ts';
import { type Bug, type Operators, operatorsIn } from './operators/operators.ts';
import type { Disturbance, Plan } from './plan.ts';
import { raise, type Storm } from './storm.ts';
import { isExpressApp } from './tools.ts';

/** The outcome of one schedule. */
export interface Outcome {
  readonly plan: Plan;
  readonly violations: readonly Violation[];
  /** What struck, in order, in words. */
  readonly strikes: readonly string[];
  /** Tasks that were made, by how they ended. */
  readonly ends: Readonly<Record<string, number>>;
  readonly ms: number;
}

/** Who acts beside the clients, and what the server said meanwhile. */
export interface Actors {
  readonly connect: Connect;
  readonly bug?: Bug | undefined;
  readonly metrics?: Told['metrics'];
}

/** So many times faster are the waits of workflows, of retries and of events. */
export const TIME_SCALE = 20;
const MINUTE = 60_000;
const GRACE = 30_000;
/** As test/support/apps/app.ts has it, and how long a record outlives that. */
const MOST_TTL = 60 * MINUTE;
const RETENTION = limits.retention + MINUTE;
/** By the second sweep, at the latest, a run that was lost starts again: 15 minutes of a task have room for it. */
const EXPRESS_SWEEPS = 2;
/** So many tasks that are gone an operator tries to cancel. */
const GONE = 3;
/** No task of the tools asks more often. */
const ROUNDS = 4;
/** So many waits of a task come one after the other, each of less than a minute. */
const WAITS = 3;

/**
 * One schedule: its clients work while its faults strike; then the faults end, and within the bounds of the crash table
 * everything must have ended: after the first minute's sweep, and what is left after its deadline and one more sweep. A third one stops the
 * runs of what ended since.
 */
export async function runSchedule(
  plan: Plan,
  control: CloudControl,
  { connect, bug, metrics = [] }: Actors,
): Promise<Outcome> {
  const begun = performance.now();
  const { cloud } = control;
  const { now } = cloud.clock;
  const folder = mkdtempSync(join(tmpdir(), 'mcp-faults-'));
  const since = now();
  const mark = cloud.calls.mark();
  let storm: Storm | undefined;
  const ended = (violations: readonly Violation[], ends: Outcome['ends'] = {}): Outcome => {
    const strikes = storm?.strikes.map(({ told }) => told) ?? [];
    return { plan, violations, strikes, ends, ms: performance.now() - begun };
  };
  try {
    const modern = modernClient(control.url);
    const legacy = await legacyClient(control.url);
    storm = raise(plan, cloud.faults, now);
    const lives = plan.tasks.map((task) => newLife(task, task.era === 'modern' ? modern : legacy, now));
    const operators = operatorsIn({ planned: plan.operators, lives, connect, storm, bug, seed: plan.seed });
    const acted = lives.map((life) => live(life, folder));
    const [disturbed] = await Promise.all([disturb(plan, control), operators.act(), ...acted]);
    storm.calm();
    const calmAt = now();
    const stuck = await settle(lives, operators, since, folder, control);
    await stopLast(since, control);
    const last = await lastLooks(lives);
    const lastTold = await lastStreams(lives);
    const records = new Map((await control.records(since)).map((record) => [record.taskId, record]));
    const calls = cloud.calls.since(mark);
    const executions = new Map(cloud.stepFunctions.executions().map(({ name, status }) => [name, status]));
    const { strikes, runs, invokes, direct } = storm;
    const around = { strikes, runs, invokes, direct, starts: startsIn(calls), executions, ...disturbed, calmAt };
    const writes = writesIn(calls);
    const evidence = { lives, records, writes, last, lastTold, folder, operators };
    await cloud.streams.drained();
    const violations = [
      ...judge({ ...evidence, around: { ...around, timeScale: TIME_SCALE } }),
      ...judgeTold(records, { events: cloud.events.accepted(), metrics }, since).map(untold),
    ];
    const later = plan.expires ? await expire(lives, operators, since, control) : [];
    return ended(
      [...stuck, ...violations, ...later],
      countBy([...records.values()], ({ status }) => status),
    );
  } catch (error) {
    return ended([{ kind: 'broke off', what: String(error instanceof Error ? error.stack : error) }]);
  } finally {
    storm?.calm();
    storm?.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What disturbances have done: how far they moved the clock, and which runs they stopped. */
async function disturb({ seed, disturbances }: Plan, control: CloudControl) {
  const random = createRandom(`disturb ${seed}`);
  const moves: { at: number; ms: number }[] = [];
  const stopped = new Set<string>();
  const act: Record<Disturbance['what'], (ms: number) => Promise<unknown>> = {
    advance: async (ms) => {
      if (await control.advance(ms, () => cancels.underWay > 0)) moves.push({ at: control.cloud.clock.now() - ms, ms });
    },
    sweep: () => control.sweep(),
    'sweep twice': () => Promise.all([control.sweep(), control.sweep()]),
    stop: async () => {
      const run = await control.stopOne(random.number());
      if (run !== undefined) stopped.add(run);
    },
  };
  await Promise.all(
    disturbances.map(async ({ afterMs, what, ms }) => {
      await sleep(afterMs);
      await act[what](ms);
    }),
  );
  return { moves, stopped };
}

const isWaiting = ({ status }: TaskRecord): boolean => status === 'waiting';

/** Answers what should have settled, and has not. */
async function settle(
  lives: readonly Life[],
  operators: Operators,
  since: number,
  folder: string,
  control: CloudControl,
): Promise<Violation[]> {
  const { clock } = control.cloud;
  const openTasks = async () => (await control.records(since)).filter(({ status }) => !isTerminal(status));
  const goOn = async () => {
    for (let round = 0, more = true; more && round < ROUNDS; round++) {
      more = (await Promise.all(lives.map((life) => liveOn(life, folder)))).some(Boolean);
      await control.quiet();
    }
  };
  const overslept: TaskRecord[] = [];
  const passMinute = async () => {
    clock.advance(MINUTE + 1_000);
    const sweptAt = clock.now();
    await control.sweep();
    await control.quiet();
    const isLate = ({ status, updatedAt, dueAt = sweptAt }: TaskRecord) =>
      status === 'waiting' && updatedAt < sweptAt && dueAt < sweptAt;
    overslept.push(...(await openTasks()).filter(isLate));
    await goOn();
  };
  const passWaits = async () => {
    for (let wait = 0; wait < WAITS && (await openTasks()).some(isWaiting); wait++) await passMinute();
  };
  /**
   * What was lost on Express starts again once it is probably over; of a round that begins now the same holds. Then it may wait, and
   * has no time for that after the last of these sweeps.
   */
  const restart = async () => {
    const from = clock.now();
    for (let sweeps = 1; sweeps <= EXPRESS_SWEEPS; sweeps++) {
      clock.advance(Math.max(0, from + sweeps * (ENGINES.express.dead + MINUTE) - clock.now()));
      await control.sweep();
      await control.quiet();
      await goOn();
      await passWaits();
    }
  };
  await control.quiet();
  await goOn();
  await passMinute();
  await operators.rerunFailed(since);
  await control.quiet();
  await goOn();
  await passWaits();
  if (isExpressApp()) await restart();
  const open = await openTasks();
  const late = overslept.map(
    ({ taskId }) => ({ kind: 'stuck', what: `${taskId} waits, and its time is over` }) as const,
  );
  if (open.length === 0) return late;
  const pass = async (tasks: readonly TaskRecord[]) => {
    const deadline = Math.max(...tasks.map(({ deadlineAt }) => deadlineAt));
    clock.advance(Math.max(0, deadline + GRACE + 1 - clock.now()));
  };
  await pass(open);
  const passed = clock.now();
  await operators.actLate(open);
  // Before anything is repaired, readers see the same.
  await lastLooks(lives);
  clock.advance(MINUTE);
  await control.sweep();
  await control.quiet();
  await goOn();
  // What operators ran again that late has a deadline of its own.
  const [stuck, again] = partition(await openTasks(), ({ createdAt }) => createdAt < passed);
  if (again.length > 0 && isExpressApp()) await restart();
  const left = again.length === 0 ? [] : await openTasks();
  if (left.length > 0) {
    await pass(left);
    clock.advance(MINUTE);
    await control.sweep();
    await control.quiet();
  }
  return [
    ...late,
    ...stuck.map(({ taskId, status }) => ({ kind: 'stuck', what: `${taskId} is still ${status}` }) as const),
  ];
}

/** One more sweep for the runs of tasks that have ended since the last one (row 15). */
async function stopLast(since: number, control: CloudControl): Promise<void> {
  if ((await control.records(since)).every(({ due }) => due === undefined)) return;
  control.cloud.clock.advance(MINUTE + 1_000);
  await control.sweep();
  await control.quiet();
}

/** Once its ttl has passed a task is gone for everybody, once it is deleted nothing is left, and nothing brings it back. */
async function expire(
  lives: readonly Life[],
  operators: Operators,
  since: number,
  control: CloudControl,
): Promise<Violation[]> {
  const { cloud } = control;
  const mark = cloud.calls.mark();
  const sweep = async () => {
    await control.sweep();
    await control.quiet();
  };
  cloud.clock.advance(MOST_TTL + MINUTE);
  const looks = await lastLooks(lives);
  // Refused, or it would be a write.
  await operators.cancelGone([...looks.keys()].slice(0, GONE));
  await Promise.all(
    lives.flatMap(({ taskIds, client }) => [...taskIds].map((id) => client.cancel(id).catch(() => undefined))),
  );
  await sweep();
  cloud.clock.advance(RETENTION);
  await cloud.sweepExpired();
  await sweep();
  const left = await control.records(since);
  const calls = cloud.calls.since(mark);
  const found = [
    ...[...looks].flatMap(([id, seen]) => (seen?.status === 'gone' ? [] : `${id} is shown as ${seen?.status}`)),
    ...[...writesIn(calls).keys()].map((taskId) => `${taskId} was written to`),
    ...[...startsIn(calls).keys()].map((run) => `${run} was started`),
    ...left.map(({ taskId }) => `${taskId} is not deleted`),
  ];
  return found.map((what) => ({ kind: 'not gone', what: `past its ttl ${what}` }));
}

const untold = (what: string): Violation => ({ kind: 'untold', what });

function partition<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}

function countBy<T>(items: readonly T[], keyOf: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[keyOf(item)] = (counts[keyOf(item)] ?? 0) + 1;
  return counts;
}
