import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { canMove, isTerminal } from '../../../functions/tasks/transitions.ts';
import type { Look } from './client.ts';
import { isOver, type Life } from './life.ts';
import type { PlannedTask } from './plan.ts';
import { chargesOf, isRepeatable, isRight, natural } from './tools.ts';
import type { Write } from './writes.ts';

export interface Violation {
  readonly kind: 'lost' | 'stuck' | 'overwritten' | 'run twice' | 'wrong';
  readonly what: string;
}

/** All that is known of a schedule once it is over. */
export interface Evidence {
  readonly lives: readonly Life[];
  /** Every task that was made, by id: also those whose client never heard of them. */
  readonly records: ReadonlyMap<string, TaskRecord>;
  readonly writes: ReadonlyMap<string, readonly Write[]>;
  /** How often a worker began with a round, by `<taskId>-r<round>`. */
  readonly runs: ReadonlyMap<string, number>;
  /** The last look of each client at each of its tasks; undefined where it got no answer. */
  readonly last: ReadonlyMap<string, Look | undefined>;
  readonly folder: string;
  /** Nothing struck, and the clock went as ever: then all must go well. */
  readonly calm: boolean;
}

/** Everything about a schedule that must not be. */
export function judge(evidence: Evidence): Violation[] {
  const { lives, records, writes, runs } = evidence;
  const tasks = new Map(lives.flatMap((life) => [...life.taskIds].map((taskId) => [taskId, life] as const)));
  return [
    ...lives.flatMap((life) => ofLife(life, evidence)),
    ...[...records].flatMap(([taskId, record]) => ofRecord(taskId, record, tasks.get(taskId)?.task)),
    ...[...writes].flatMap(([taskId, history]) => ofHistory(taskId, history)),
    ...[...runs].flatMap(([run, times]) => ofRun(run, times, evidence)),
  ];
}

const violation = (kind: Violation['kind'], what: string): Violation => ({ kind, what });
const show = (value: unknown) => JSON.stringify(value);

function ofLife(life: Life, { last, records, folder, calm }: Evidence): Violation[] {
  const { task, taskIds, ends, results, cancelled, wrong } = life;
  const name = `task ${task.number} (${task.era} ${task.tool})`;
  const found = wrong.map((what) => violation('wrong', `${name} got an answer that must not be: ${what}`));
  for (const taskId of taskIds) {
    const look = last.get(taskId);
    if (!records.has(taskId)) found.push(violation('lost', `${name}: ${taskId} is gone`));
    if (look === undefined) found.push(violation('lost', `${name}: nobody answers for ${taskId}`));
    else if (!isOver(look)) found.push(violation('stuck', `${name}: ${taskId} is ${look.status}`));
    for (const seen of ends.filter((end) => end.taskId === taskId)) {
      if (show(seen.look) === show(look)) continue;
      found.push(violation('overwritten', `${name}: ${taskId} was ${show(seen.look)}, is ${show(look)}`));
    }
    if (cancelled.has(taskId) && look?.status !== 'cancelled') {
      found.push(violation('overwritten', `${name}: ${taskId} was cancelled, is ${show(look)}`));
    }
  }
  if (life.key !== undefined && taskIds.size > 1) found.push(violation('wrong', `${name}: two tasks for one key`));
  const looks = [...results, ...[...taskIds].flatMap((taskId) => last.get(taskId) ?? [])];
  for (const look of looks) {
    if (look.status === 'completed' && !isRight(task, look.text)) {
      found.push(violation('wrong', `${name} came to ${show(look)}`));
    }
    if (calm && !wentWell(task, look)) found.push(violation('wrong', `${name}, with no fault at all: ${show(look)}`));
  }
  const charges = chargesOf(task, folder);
  // A call that was made again without a key is another task.
  if (task.tool === 'charge_once' && life.key !== undefined && charges > 1) {
    found.push(violation('run twice', `${name} charged ${charges} times`));
  }
  return found;
}

/** A task that was to be cancelled may be; one whose questions nobody answers fails; scaled, its 30 seconds are short. */
function wentWell(task: PlannedTask, { status, reason }: Look): boolean {
  if (task.tool === 'sleep' && reason === 'States.Timeout') return true;
  if (status === 'cancelled') return task.cancelAfterMs !== undefined;
  if (task.answers === 'never' && reason === 'DeadlineExceeded') return true;
  return reason === natural(task);
}

/** Also of tasks that no client knows of: they end, and the sweep is rid of them. */
function ofRecord(taskId: string, { status, due, dueAt }: TaskRecord, task: PlannedTask | undefined): Violation[] {
  const whose = task === undefined ? 'of nobody' : `of task ${task.number} (${task.era} ${task.tool})`;
  if (!isTerminal(status)) return [violation('stuck', `${taskId} ${whose} is still ${status}`)];
  return due === undefined && dueAt === undefined ? [] : [violation('stuck', `${taskId} ${whose} is still due`)];
}

/** Made once; each move is one that there is; nothing is written to what is over. */
function ofHistory(taskId: string, history: readonly Write[]): Violation[] {
  const [first, ...rest] = history;
  const told = show(history);
  if (first?.status === undefined || first.round === undefined) return [violation('wrong', `${taskId}: ${told}`)];
  let { status, round } = { status: first.status, round: first.round };
  for (const write of rest) {
    if (isTerminal(status)) return [violation('overwritten', `${taskId} was over and was written to: ${told}`)];
    if (write.round !== undefined && write.round !== round + 1) return [violation('wrong', `${taskId}: ${told}`)];
    const moved = write.status !== undefined && write.status !== status;
    if (moved && write.status && !canMove(status, write.status)) return [violation('wrong', `${taskId}: ${told}`)];
    status = write.status ?? status;
    round = write.round ?? round;
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
