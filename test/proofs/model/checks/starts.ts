import { isDeepStrictEqual } from 'node:util';
import { answersByName } from '../../../../functions/tasks/input.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { RoundInput } from '../../../../functions/tasks/round-input.ts';
import type { ToolEvent } from '../../../../functions/tasks/tool-contract.ts';
import type { Truth } from './truth.ts';
import { checkFirst, checkSignals } from './waits.ts';
import { isWithdrawn, SKEW } from './writes.ts';

/** All attempts of one StartExecution of the endpoint, in ms. */
const STARTING = 20_000;
/** Runs of a round whose tool may be repeated: one, after a throttling or a fault of Lambda six more, after a crash two. */
const MOST_RUNS = 9;

/** What must hold when an execution begins. */
export function checkExecution({ taskId, round }: RoundInput, now: number, truth: Truth): void {
  const task = truth.task(taskId);
  const known = truth.round(taskId, round);
  const must = (holds: boolean, rule: string) => {
    if (!holds) truth.violated(`${rule}: ${taskId} round ${round}`);
  };
  if (task === undefined || known === undefined) {
    must(false, 'A run belongs to a task');
    return;
  }
  known.executions++;
  must(known.executions === 1, 'A round is started once');
  must(!isWithdrawn(task.record), 'A withdrawn task is not started');
  must(round <= task.record.round, 'A round is started after it has begun');
  const asking = task.record.round === round && task.record.status === 'input_required';
  must(!asking || known.executions > 1, 'A round is started before it asks');
  if (round > 1) return;
  const latest = task.record.createdAt + limits.startWithin + STARTING + SKEW;
  must(now <= latest, 'A first round is started soon or never: its client may have given up and called again');
}

/** What must hold when the tool begins. */
export function checkBegin(event: ToolEvent, truth: Truth): void {
  const { taskId = '', round = 0 } = event.task ?? {};
  const task = truth.task(taskId);
  const known = truth.round(taskId, round);
  if (task === undefined || known === undefined) {
    truth.violated(`A tool runs for a task: ${taskId}`);
    return;
  }
  known.begun++;
  const most = event.name === 'repeatable' ? MOST_RUNS : 1;
  if (known.begun > most) truth.violated(`A tool runs once in a round: ${taskId} round ${round}`);
  const answered = event.name !== 'first' || Object.hasOwn(event.inputResponses, 'sure');
  if (!answered) truth.violated(`A tool that asks first gets answers: ${taskId} round ${round}`);
  checkSignals(event, truth);
  checkFirst(event, truth);
  const { record } = task;
  if (record.round !== round || record.status !== 'working') return;
  const given = answersByName(record);
  if (!isDeepStrictEqual(event.inputResponses, given)) {
    truth.violated(`A tool gets all answers: ${taskId} round ${round} got ${JSON.stringify(event.inputResponses)}`);
  }
}
