import type { TaskRecord } from '../../../../../functions/tasks/record.ts';
import { isTerminal } from '../../../../../functions/tasks/transitions/change.ts';
import { brokenMove, unsettled } from '../../../record-rules.ts';
import type { Look } from '../client.ts';
import { idsOf, isOver, type Life } from '../life.ts';
import { judgeOperators } from '../operators/judge.ts';
import type { Operators } from '../operators/operators.ts';
import type { PlannedTask } from '../plan.ts';
import { hasGivenAway, raceProblems, signalProblems } from '../signals.ts';
import { argumentsOf, chargesOf, isDirect, isExpress, isRepeatable, isRight } from '../tools.ts';
import { OUTCOME, STREAM } from '../whose.ts';
import { type Around, isExplained, isTooLateToWait } from './reasons.ts';
import type { Write } from './writes.ts';

const KINDS = [
  ...(['lost', 'stuck', 'overwritten', 'run twice', 'wrong', 'unexplained'] as const),
  ...(['not gone', 'broke off', 'untold', 'misreported', 'unaudited', 'acted twice'] as const),
] as const;

export interface Violation {
  /**
   * `broke off`: the schedule itself did not end. `untold`: an event or a metric is missing, or wrong. `misreported`: who
   * acted has learned what is not so. `unaudited`: an act has no audit line, a wrong one or two.
   */
  readonly kind: (typeof KINDS)[number];
  readonly what: string;
}

/** All that is known of a schedule once it is over. */
export interface Evidence {
  readonly lives: readonly Life[];
  /** Every task that was made, by id: also those whose client never heard of them. */
  readonly records: ReadonlyMap<string, TaskRecord>;
  readonly writes: ReadonlyMap<string, readonly Write[]>;
  /** The last look of each client at each of its tasks; undefined where it got no answer. */
  readonly last: ReadonlyMap<string, Look | undefined>;
  /** The last status on the last stream of each client; undefined if the stream did not end. */
  readonly lastTold: ReadonlyMap<string, string | undefined>;
  readonly folder: string;
  readonly operators: Pick<Operators, 'performed' | 'audits'>;
  readonly around: Around;
}

/** Everything about a schedule that must not be. */
export function judge(evidence: Evidence): Violation[] {
  const { lives, records, writes, around } = evidence;
  return [
    ...lives.flatMap((life) => ofLife(life, evidence)),
    ...[...records.values()].flatMap((record) => ofRecord(record, evidence)),
    ...[...writes].flatMap(([taskId, history]) => ofHistory(taskId, history)),
    ...[...around.runs].flatMap(([run, begun]) => ofRun(run, begun.length, evidence)),
    ...[...around.starts].flatMap(([run, starts]) => ofStarts(run, starts.length, evidence)),
    ...judgeOperators(evidence),
  ];
}

const violation = (kind: Violation['kind'], what: string): Violation => ({ kind, what });
const show = (value: unknown) => JSON.stringify(value);

function ofLife(life: Life, { last, lastTold, records, writes, folder, operators, around }: Evidence): Violation[] {
  const { task, taskIds, ends, results, cancelled, wrong } = life;
  const name = `task ${task.number} (${task.era} ${task.tool})`;
  const found = wrong.map((what) => violation('wrong', `${name} got an answer that must not be: ${what}`));
  for (const taskId of idsOf(life)) {
    const look = last.get(taskId);
    found.push(...ofStreams(life, taskId, writes.get(taskId) ?? []));
    if (task.listens && taskIds.has(taskId) && lastTold.get(taskId) !== look?.status) {
      found.push(violation('lost', `${name}: ${taskId} is ${look?.status}, a stream tells ${lastTold.get(taskId)}`));
    }
    if (!records.has(taskId)) found.push(violation('lost', `${name}: ${taskId} is gone`));
    if (task.tool === 'charge_and_wait') {
      const hasResult = look?.status === 'completed' && !look.isError;
      const signals = hasResult ? signalProblems(life, taskId, look.text) : [];
      const problems = [...signals, ...raceProblems(life, taskId, folder)];
      found.push(...problems.map((what) => violation('wrong', `${name}: ${taskId}: ${what}`)));
    }
    if (look === undefined) found.push(violation('lost', `${name}: no look at ${taskId} was answered`));
    else if (!isOver(look)) found.push(violation('stuck', `${name}: ${taskId} is ${look.status}`));
    for (const seen of ends.filter((end) => end.taskId === taskId)) {
      if (show(seen.look) === show(look)) continue;
      const times = show({ deadlineAt: records.get(taskId)?.deadlineAt, writes: writes.get(taskId), ...around.moves });
      found.push(violation('overwritten', `${name}: ${taskId} was ${show(seen.look)}, is ${show(look)}: ${times}`));
    }
    if (cancelled.has(taskId) && look?.status !== 'cancelled') {
      found.push(violation('overwritten', `${name}: ${taskId} was cancelled, is ${show(look)}`));
    }
    const misshown = look?.status === 'failed' && look.reason !== reasonOf(records.get(taskId));
    if (misshown || (look?.status === 'completed' && look.isError !== (records.get(taskId)?.isError || undefined))) {
      found.push(violation('wrong', `${name}: ${taskId} is shown as ${show(look)}, and is not so`));
    }
  }
  for (const { taskId, at } of life.acknowledged) {
    const end = writes.get(taskId)?.find(({ status }) => status !== undefined && isTerminal(status));
    // Past its deadline it has failed as a reader sees it: the sweep may write that later.
    if ((end !== undefined && end.at <= at) || reasonOf(records.get(taskId)) === 'DeadlineExceeded') continue;
    found.push(violation('wrong', `${name}: the cancel of ${taskId} was acknowledged, and it went on`));
  }
  if (life.key !== undefined && taskIds.size > 1) found.push(violation('wrong', `${name}: two tasks for one key`));
  const looks = [
    ...results.map((look) => ({ look, again: false, taskId: undefined })),
    ...idsOf(life).map((taskId) => ({ look: last.get(taskId), again: life.reruns.has(taskId), taskId })),
  ];
  const isRefused = (text: string | undefined, taskId = ''): boolean => {
    const record = records.get(taskId);
    const write = writes.get(taskId)?.find(({ status }) => status === 'completed');
    if (task.tool !== 'charge_and_wait' || record === undefined || write === undefined) return false;
    return isTooLateToWait({ record, write, task, text, given: hasGivenAway(task, taskId, folder) }, around);
  };
  for (const { look, again, taskId } of looks) {
    if (look?.status !== 'completed') continue;
    if (!(look.isError ? isRefused(look.text, taskId) : isRight(task, look.text, again))) {
      found.push(violation('wrong', `${name} came to ${show(look)}`));
    }
  }
  // A call without a task shows no id: some task of this tool must have failed so.
  for (const { status, reason } of results) {
    const failed = isDirect(task)
      ? around.strikes.some(
          ({ service, run, about = '' }) =>
            service === 'lambda' && run === undefined && ![STREAM, OUTCOME].includes(about),
        )
      : [...records.values()].some((record) => record.tool === task.tool && reasonOf(record) === reason);
    if (status === 'failed' && !failed)
      found.push(violation('wrong', `${name} failed with ${reason}, and no task did`));
  }
  const { calls = 0, runs = 0 } = around.direct.get(task.tool) ?? {};
  if (runs > calls) found.push(violation('run twice', `${name} ran ${runs} times for ${calls} calls`));
  const charges = chargesOf(task, folder);
  const forced = operators.performed.filter(
    ({ act, taskId }) => act.verb === 'rerun' && act.force && taskIds.has(taskId),
  );
  // A call that was made again without a key is another task.
  const again = { charge_once: forced.length, charge_and_wait: life.reruns.size }[task.tool];
  if (again !== undefined && life.key !== undefined && charges > 1 + again) {
    found.push(violation('run twice', `${name} charged ${charges} times`));
  }
  return found;
}

/** A stream may leave out a status that has passed, and never goes back to one. */
function ofStreams({ told }: Life, taskId: string, history: readonly Write[]): Violation[] {
  const statuses = history.flatMap(({ status }) => status ?? []);
  const seen = told.filter((one) => one.taskId === taskId).map(({ status }) => status);
  let at = 0;
  for (const status of seen) {
    while (at < statuses.length && statuses[at] !== status) at++;
  }
  if (at < statuses.length) return [];
  return [violation('overwritten', `streams of ${taskId} showed ${seen.join(', ')}; it was ${statuses.join(', ')}`)];
}

function reasonOf(record: TaskRecord | undefined): string | undefined {
  if (record?.error === undefined) return undefined;
  const { message, data } = JSON.parse(record.error) as { message: string; data?: { reason?: string } };
  return data?.reason ?? message;
}

/** Also of tasks that no client knows of: they end, the sweep is rid of them, and there is a cause for their end. */
function ofRecord(record: TaskRecord, evidence: Evidence): Violation[] {
  const { taskId, status } = record;
  const { lives, writes, around } = evidence;
  const life = lives.find((one) => idsOf(one).includes(taskId));
  const task = life?.task ?? plannedOf(record, evidence);
  const whose = task === undefined ? 'of no client' : `of task ${task.number} (${task.era} ${task.tool})`;
  const open = unsettled(record);
  if (open !== undefined) return [violation('stuck', `${taskId} ${whose} ${open}`)];
  const byOperator = record.events?.some(({ what, by }) => what === 'cancelled' && by === 'operator');
  if (status === 'cancelled' && task?.cancelAfterMs === undefined && !byOperator) {
    return [violation('unexplained', `${taskId} ${whose} is cancelled, and no client wanted that`)];
  }
  const write = writes.get(taskId)?.find((one) => one.status === 'failed');
  if (status !== 'failed' || write === undefined) return [];
  const promised = life?.key === undefined || life.reruns.has(taskId);
  const told = life === undefined ? 'nothing' : promised ? 'promise' : 'id';
  if (isExplained({ record, write, task, told }, around)) return [];
  return [violation('unexplained', `${taskId} ${whose} failed without a cause, by ${write.by}: ${record.error}`)];
}

/** By what its tool was called with: no two planned tasks that matter here have the same. */
function plannedOf({ taskId, tool }: TaskRecord, { lives, around, folder }: Evidence): PlannedTask | undefined {
  const args = around.starts.get(`${taskId}-r1`)?.[0]?.args;
  const same = (task: PlannedTask) => canonical(argumentsOf(task, folder)) === canonical(JSON.parse(args ?? 'null'));
  return lives.map(({ task }) => task).find((task) => task.tool === tool && same(task));
}

const canonical = (value: object | null) => show(Object.entries(value ?? {}).sort());

/** Made once; each move is one that there is; nothing is written to what is over. */
function ofHistory(taskId: string, history: readonly Write[]): Violation[] {
  const [first, ...rest] = history;
  const told = show(history);
  if (first?.status === undefined || first.round === undefined) return [violation('wrong', `${taskId}: ${told}`)];
  let before = { status: first.status, round: first.round };
  for (const { status = before.status, round = before.round, stop } of rest) {
    if (stop) continue;
    const broken = brokenMove(before, { status, round });
    const kind = isTerminal(before.status) ? 'overwritten' : 'wrong';
    if (broken !== undefined) return [violation(kind, `${broken}: ${taskId} ${told}`)];
    before = { status, round };
  }
  return [];
}

function ofRun(run: string, times: number, { records }: Evidence): Violation[] {
  const taskId = run.slice(0, run.lastIndexOf('-r'));
  const record = records.get(taskId);
  if (record === undefined) return [violation('lost', `${run} ran, and there is no such task`)];
  return times > 1 && !isRepeatable(record)
    ? [violation('run twice', `${run} of ${record.tool} ran ${times} times`)]
    : [];
}

/**
 * On Express each start is one more run. So a round has one start, one more for each that a fault struck, and one for each
 * time that its record says it was started again.
 */
function ofStarts(run: string, starts: number, { records, around }: Evidence): Violation[] {
  const at = run.lastIndexOf('-r');
  const [taskId, number] = [run.slice(0, at), Number(run.slice(at + 2))];
  const record = records.get(taskId);
  if (record === undefined || !isExpress(record)) return [];
  const struck = around.strikes.filter((strike) => strike.taskId === taskId && strike.operation === 'StartExecution');
  const again = (record.events ?? []).filter(({ what, round = 1 }) => what === 'restarted' && round === number);
  const most = 1 + struck.length + again.length;
  if (starts <= most) return [];
  return [
    violation('run twice', `${run} of ${record.tool} was started ${starts} times, and there is a cause for ${most}`),
  ];
}
