import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, type Look, NoAnswer } from './client.ts';
import type { PlannedTask } from './plan.ts';
import { argumentsOf, asks } from './tools.ts';

/** What the client of a planned task has done and seen. */
export interface Life {
  readonly task: PlannedTask;
  readonly client: Client;
  readonly key: string | undefined;
  /** Every id it was given; more than one only if it called again without a key. */
  readonly taskIds: Set<string>;
  /** Every end of a task that it was shown. */
  readonly ends: { readonly taskId: string; readonly look: Look }[];
  /** Ends of calls without a task, which have no id. */
  readonly results: Look[];
  /** Tasks that were cancelled, as it was told. */
  readonly cancelled: Set<string>;
  /** Answers that must not be, whatever happens. */
  readonly wrong: string[];
}

const CALLS = 4;
const LOOKS = 12;
const PAUSE_MS = 40;
/** Each pause is so much longer than the one before. */
const SLOWER = 1.25;

export const isOver = ({ status }: Look): boolean => ['completed', 'failed', 'cancelled'].includes(status);

export function newLife(task: PlannedTask, client: Client): Life {
  const key = task.keyed ? randomUUID() : undefined;
  return { task, client, key, taskIds: new Set(), ends: [], results: [], cancelled: new Set(), wrong: [] };
}

/** Undefined where there was no answer. What is no answer of the protocol is kept as wrong. */
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

export async function look(life: Life, taskId: string): Promise<Look | undefined> {
  const seen = await tried(life, () => life.client.look(taskId));
  if (seen !== undefined && isOver(seen)) life.ends.push({ taskId, look: seen });
  return seen;
}

/** While faults strike: calls, looks, answers, cancels, until it has seen the end or had enough. */
export async function live(life: Life, folder: string): Promise<void> {
  const { task, client } = life;
  await sleep(task.afterMs);
  for (let calls = 0; calls < CALLS && !isAnswered(life); calls++) await make(life, folder);
  const [taskId] = life.taskIds;
  if (taskId === undefined) return;
  await Promise.all([watch(life, taskId), cancelIfPlanned()]);

  async function cancelIfPlanned(): Promise<void> {
    if (task.cancelAfterMs === undefined || taskId === undefined) return;
    await sleep(task.cancelAfterMs);
    for (let tries = 0; tries < CALLS; tries++) {
      const won = await tried(life, () => client.cancel(taskId));
      if (won) life.cancelled.add(taskId);
      if (won !== undefined) return;
    }
  }
}

async function watch(life: Life, taskId: string): Promise<void> {
  const { task, client } = life;
  for (let looks = 0; looks < LOOKS; looks++) {
    const seen = await look(life, taskId);
    if (seen !== undefined && isOver(seen)) return;
    if (seen?.status === 'input_required') {
      if (task.answers === 'never' || task.answers === 'late') return;
      const times = task.answers === 'at once' ? 1 : 2;
      await Promise.all(Array.from({ length: times }, () => tried(life, () => client.answer(taskId))));
    }
    await sleep(PAUSE_MS * SLOWER ** looks);
  }
}

/** Once all goes well again: who has a key and no answer calls again, and late answers are given. */
export async function liveOn(life: Life, folder: string): Promise<void> {
  const { task, client } = life;
  if (life.key !== undefined && !isAnswered(life)) await make(life, folder);
  if (!asks(task) || task.answers === 'never') return;
  for (const taskId of life.taskIds) {
    for (let round = 0; round < 3; round++) {
      const seen = await look(life, taskId);
      if (seen === undefined || isOver(seen)) break;
      if (seen.status === 'input_required') await tried(life, () => client.answer(taskId));
      await sleep(PAUSE_MS);
    }
  }
}
