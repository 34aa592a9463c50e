import type { TaskRecord } from '../../../../../functions/tasks/record.ts';
import type { Evidence, Violation } from '../judge/judge.ts';
import type { Write } from '../judge/writes.ts';
import { isRepeatable } from '../tools.ts';
import type { Performed } from './operators.ts';

/** A search that has read every task. */
const FOUND_NONE = /^No task '.*\. It may have expired$/;
/** What a verb adds to the events of a record. */
const MARK = { cancel: 'cancelled', fail: 'failed', answer: 'answered', rerun: 'created' } as const;
/** An operator who reads this checks the task: the act may have been carried out, and may not. */
const UNCERTAIN = /^It is not known whether/;
/** A rerun that made a task, whose run it could not start, or not let run. The answer names that task. */
const NOT_RUN = /^Not run again: the new task /;
/** An answer that was taken, and its task ended for another reason at the same moment. */
const TOO_LATE = /^(Answered, but it cannot go on|Not answered: its deadline has passed)/;

const violation = (kind: Violation['kind'], what: string): Violation => ({ kind, what });

/** Everything about operators that must not be. */
export function judgeOperators(evidence: Evidence): Violation[] {
  const { operators, records } = evidence;
  return [
    ...operators.performed.flatMap((one) => ofAct(one, evidence)),
    ...[...records.values()].flatMap((record) => ofEvents(record, evidence)),
    ...[...records.values()].flatMap((record) => ofRerun(record, evidence)),
  ];
}

/** It is written once at most, what is written stays, and its operator and the audit learn whether it is. */
function ofAct(one: Performed, { writes, records, operators }: Evidence): Violation[] {
  const { act, taskId, reason, outcome, error } = one;
  const name = `${reason}, ${act.force ? 'forced ' : ''}${act.verb} of ${taskId} by ${one.who}`;
  const told = outcome === undefined ? `${error}` : `${outcome.done ? 'done' : 'not done'}: ${outcome.message}`;
  const landed = [...writes].flatMap(([id, history]) => marked(history, reason).map((write) => ({ id, write })));
  const kept = [...records.values()].flatMap(({ events = [] }) => events.filter((event) => event.reason === reason));
  const lines = operators.audits.filter((line) => line.reason === reason);
  const found: Violation[] = [];
  const must = (holds: boolean, kind: Violation['kind'], what: string) => {
    if (!holds) found.push(violation(kind, `${name} ${what}. Its operator reads “${told}”`));
  };
  must(landed.length <= 1, 'acted twice', `was written ${landed.length} times`);
  must(kept.length === landed.length, 'overwritten', `was written ${landed.length} times, and is kept ${kept.length}`);
  must(
    kept.every(({ what }) => what === MARK[act.verb]),
    'wrong',
    `is kept as ${kept.map(({ what }) => what)}`,
  );
  const where = landed.every(({ id }) => (act.verb === 'rerun' ? records.get(id)?.rerunOf : id) === taskId);
  must(where || one.search !== undefined, 'wrong', `changed ${landed.map(({ id }) => id)}`);
  const wanted = outcome !== undefined || landed.length > 0 ? 1 : 0;
  must(lines.length === wanted, 'unaudited', `has ${lines.length} audit lines`);
  must(
    lines.every(({ done }) => done === (outcome?.done ?? false)),
    'unaudited',
    `is audited as ${JSON.stringify(lines)}`,
  );
  const { message = '', done = false, newTaskId } = outcome ?? {};
  if (done) must(landed.length === 1, 'misreported', 'was not written');
  else if (!UNCERTAIN.test(message) && !NOT_RUN.test(message) && !isTooLate(message, records.get(taskId)))
    must(landed.length === 0, 'misreported', 'was written');
  if (newTaskId !== undefined) must(landed[0]?.id === newTaskId, 'misreported', `made ${landed[0]?.id}`);
  if (one.search !== undefined) must(!isSure(one, writes) || isRefused(one, landed.length), 'wrong', 'has two tasks');
  return found;
}

const marked = (history: readonly Write[], reason: string) => history.filter((write) => write.reason === reason);

const isTooLate = (message: string, record: TaskRecord | undefined): boolean =>
  TOO_LATE.test(message) && record?.status === 'failed';

/** Nothing was done, as the operator did not name one task. Or the search failed. */
const isRefused = ({ outcome, error }: Performed, landed: number): boolean =>
  outcome === undefined && landed === 0 && error !== undefined && !FOUND_NONE.test(error.message);

/** Both tasks were in one status all the while that they were searched for: a search reads one status after the other. */
function isSure({ taskId, search }: Performed, writes: Evidence['writes']): boolean {
  if (search === undefined) return false;
  const moves = [taskId, search.twin]
    .flatMap((id) => writes.get(id) ?? [])
    .filter(({ status }) => status !== undefined);
  return moves.every(({ at, landedAt = at }) => landedAt < search.from || at > search.to);
}

/** Each event of an operator is of an act on that task. */
function ofEvents({ taskId, rerunOf, events = [] }: TaskRecord, { operators }: Evidence): Violation[] {
  return events
    .filter(({ by, reason }) => by === 'operator' && reason !== undefined)
    .filter(({ reason }) => !operators.performed.some((one) => one.reason === reason && isOf(one, rerunOf ?? taskId)))
    .map((event) => violation('wrong', `${taskId}: no operator has done ${JSON.stringify(event)}`));
}

const isOf = ({ taskId, search }: Performed, id: string): boolean => id === taskId || id === search?.twin;

/** Without `--force` one task, and only if no effect of the first one is repeated. */
function ofRerun(record: TaskRecord, { operators, records, around }: Evidence): Violation[] {
  const { taskId, rerunOf, tool, events } = record;
  if (rerunOf === undefined) return [];
  const unforced = ({ events: [first] = [] }: TaskRecord) =>
    operators.performed.some(({ reason, act }) => reason === first?.reason && !act.force);
  if (!unforced(record)) return [];
  const found: Violation[] = [];
  const others = [...records.values()].filter((other) => other.rerunOf === rerunOf && unforced(other));
  if (others.length > 1) found.push(violation('acted twice', `${rerunOf} ran again ${others.length} times`));
  const begun = [...around.executions.keys(), ...around.runs.keys()].some((run) => run.startsWith(`${rerunOf}-r`));
  if (begun && !isRepeatable(record)) {
    const why = JSON.stringify(events?.[0]);
    found.push(violation('run twice', `${taskId} repeats ${rerunOf} of ${tool}, which may have run: ${why}`));
  }
  return found;
}
