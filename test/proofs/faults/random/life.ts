import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, type Look, NoAnswer } from './client.ts';
import type { PlannedTask } from './plan.ts';
import { type Sent, signalAll } from './signals.ts';
import { argumentsOf, asks } from './tools.ts';

/** What the client of a planned task has done and seen. */
export interface Life {
  readonly task: PlannedTask;
  readonly client: Client;
  readonly now: () => number;
  readonly key: string | undefined;
  /** Every id it was given; more than one only if it called again without a key. */
  readonly taskIds: Set<string>;
  /** Tasks that operators have made of these: they ran them again. */
  readonly reruns: Set<string>;
  /** Every end of a task that it was shown. */
  readonly ends: { readonly taskId: string; readonly look: Look }[];
  /** Ends of calls without a task, which have no id. */
  readonly results: Look[];
  /** Tasks that were cancelled, as the answers said. */
  readonly cancelled: Set<string>;
  /** When a cancel was acknowledged, by the clock of the cloud: by then the task must be over. */
  readonly acknowledged: { readonly taskId: string; readonly at: number }[];
  /** Questions whose answer was acknowledged, as `<taskId> <question>`. */
  readonly taken: Set<string>;
  /** Signals of those whom the task waits for. */
  readonly sent: Sent[];
  /** Each status that a stream told, in order. */
  readonly told: { readonly taskId: string; readonly status: string }[];
  /** Answers that no fault excuses. */
  readonly wrong: string[];
}

const CALLS = 4;
const LOOKS = 12;
const STREAMS = 4;
const PAUSE_MS = 40;
/** Each pause is so much longer than the one before. */
const SLOWER = 1.25;

/** All tasks that the client may see. */
export const idsOf = ({ taskIds, reruns }: Life): string[] => [...taskIds, ...reruns];

export const isOver = ({ status }: Look): boolean => ['completed', 'failed', 'cancelled'].includes(status);

export function newLife(task: PlannedTask, client: Client, now: () => number): Life {
  return {
    ...{ task, client, now, key: task.keyed ? randomUUID() : undefined },
    ...{
      taskIds: new Set(),
      reruns: new Set(),
      ends: [],
      results: [],
      cancelled: new Set(),
      acknowledged: [],
      taken: new Set(),
      sent: [],
    },
    ...{ told: [], wrong: [] },
  };
}

/** Undefined where there was no answer. What is not an answer of the protocol is kept as wrong. */
async function tried<T>(life: Life, what: () => Promise<T>): Promise<T | undefined> {
  try {
    return await what();
  } catch (error) {
    if (!(error instanceof NoAnswer)) life.wrong.push(String(error));
    return undefined;
  }
}

/** One call of the tool; answers the id, if the client got one. */
async function make(life: Life, folder: string): Promise<string | undefined> {
  const { task, client, key } = life;
  const made = await tried(life, () => client.make(task.tool, argumentsOf(task, folder), task.way === 'task', key));
  if (made?.look !== undefined) life.results.push(made.look);
  if (made?.taskId !== undefined) life.taskIds.add(made.taskId);
  return made?.taskId;
}

const isAnswered = ({ taskIds, results }: Life) => taskIds.size + results.length > 0;

/** Hears of questions; one whose answer was acknowledged before must not be asked again. */
function questionsOf(life: Life, taskId: string) {
  const before = new Set(life.taken);
  return {
    asked(question: string) {
      if (before.has(`${taskId} ${question}`)) life.wrong.push(`${taskId} asks '${question}' again, after its answer`);
    },
    taken: (question: string) => void life.taken.add(`${taskId} ${question}`),
  };
}

export async function look(life: Life, taskId: string): Promise<Look | undefined> {
  const { asked } = questionsOf(life, taskId);
  const seen = await tried(life, () => life.client.look(taskId));
  for (const question of seen?.questions ?? []) asked(question);
  if (seen !== undefined && isOver(seen)) life.ends.push({ taskId, look: seen });
  return seen;
}

async function answer(life: Life, taskId: string): Promise<void> {
  const seen = await tried(life, () => life.client.answer(taskId, questionsOf(life, taskId)));
  if (seen !== undefined) life.ends.push({ taskId, look: seen });
}

/** While faults strike: calls, looks, answers, cancels, until it has seen the end or had enough. */
export async function live(life: Life, folder: string): Promise<void> {
  const { task, client } = life;
  await sleep(task.afterMs);
  for (let calls = 0; calls < CALLS && !isAnswered(life); calls++) await make(life, folder);
  const [taskId] = life.taskIds;
  if (taskId === undefined) return;
  const signals = task.answers === 'late' ? undefined : signalAll(life, folder);
  await Promise.all([watch(life, taskId), cancelIfPlanned(), signals, task.listens && follow(life, taskId)]);

  async function cancelIfPlanned(): Promise<void> {
    if (task.cancelAfterMs === undefined || taskId === undefined) return;
    await sleep(task.cancelAfterMs);
    for (let tries = 0; tries < CALLS; tries++) {
      const told = await tried(life, () => client.cancel(taskId));
      if (told === 'cancelled') life.cancelled.add(taskId);
      if (told === undefined) continue;
      life.acknowledged.push({ taskId, at: life.now() });
      return;
    }
  }
}

/** One stream. Returns its last status if the stream ended. */
export async function listen(life: Life, taskId: string): Promise<string | undefined> {
  let last: string | undefined;
  const told = (status: string) => {
    last = status;
    life.told.push({ taskId, status });
  };
  return tried(life, async () => {
    await life.client.listen(taskId, told);
    return last;
  });
}

async function follow(life: Life, taskId: string): Promise<void> {
  for (let streams = 0; streams < STREAMS; streams++) {
    const status = await listen(life, taskId);
    if (status !== undefined && isOver({ status })) return;
    await sleep(PAUSE_MS);
  }
}

async function watch(life: Life, taskId: string): Promise<void> {
  const { task } = life;
  for (let looks = 0; looks < LOOKS; looks++) {
    const seen = await look(life, taskId);
    if (seen !== undefined && isOver(seen)) return;
    if (seen?.status === 'input_required') {
      if (task.answers === 'never' || task.answers === 'late') return;
      const times = task.answers === 'at once' ? 1 : 2;
      await Promise.all(Array.from({ length: times }, () => answer(life, taskId)));
    }
    await sleep(PAUSE_MS * SLOWER ** looks);
  }
}

/**
 * Once all goes well again: who has a key and no answer calls again, and late answers are given. Answers whether
 * a task that asks may go on.
 */
export async function liveOn(life: Life, folder: string): Promise<boolean> {
  const { task } = life;
  if (life.key !== undefined && !isAnswered(life)) await make(life, folder);
  if (task.tool === 'charge_and_wait') return signalAll(life, folder, 1);
  if (!asks(task) || task.answers === 'never') return false;
  let answered = false;
  for (const taskId of idsOf(life)) {
    const seen = await look(life, taskId);
    if (seen?.status === 'input_required') await answer(life, taskId);
    answered ||= seen === undefined || !isOver(seen);
  }
  return answered;
}
