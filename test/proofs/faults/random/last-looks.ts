import { setTimeout as sleep } from 'node:timers/promises';
import type { Look } from './client.ts';
import { idsOf, type Life, listen, look } from './life.ts';

/** Requests of one last look. */
const TRIES = 5;

/** What each client sees of each of its tasks. */
export async function lastLooks(lives: readonly Life[]): Promise<Map<string, Look | undefined>> {
  const looks = lives.flatMap((life) =>
    idsOf(life).map(async (taskId) => [taskId, await answered(() => look(life, taskId))] as const),
  );
  return new Map(await Promise.all(looks));
}

/** A busy machine refuses some requests, as no worker is free: its client asks again. */
async function answered<T>(ask: () => Promise<T | undefined>): Promise<T | undefined> {
  for (let tries = 1; ; tries++) {
    const answer = await ask();
    if (answer !== undefined || tries === TRIES) return answer;
    await sleep(tries * 100);
  }
}

/** What a stream of each task that has one says last. */
export async function lastStreams(lives: readonly Life[]): Promise<Map<string, string | undefined>> {
  const streams = lives.flatMap((life) =>
    life.task.listens ? [...life.taskIds].map(async (taskId) => [taskId, await listen(life, taskId)] as const) : [],
  );
  return new Map(await Promise.all(streams));
}
