import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Random, randomOf } from '../../proofs/fuzz/generate/random.ts';
import { isOver, type Lives, type Seen } from './client.ts';
import { judge } from './judge.ts';
import type { PointName } from './points.ts';
import { type CloudProcess, startProcess } from './process.ts';
import { play, type Story } from './scenarios.ts';

/** A point, or some time after the start. */
export type Death = PointName | 'any time';

export interface Round {
  /** A few words on the moment of each kill. */
  readonly kills: readonly string[];
  readonly stories: readonly Story[];
  readonly ends: Readonly<Record<string, number>>;
  /** Deaths whose point was never reached. */
  readonly missed: readonly Death[];
  readonly wrong: readonly string[];
}

export interface RoundOptions {
  readonly seed: number;
  /** The assembly of restart-app.ts. */
  readonly assembly: string;
  /** An empty folder. */
  readonly folder: string;
  readonly deaths: readonly Death[];
}

const CLIENTS = 12;
/** A bound: every point is reached long before. */
const MOST_MS = 60_000;

/** Kills a cloud again and again while clients work with it, lets them finish, and judges every answer they got. */
export async function runRound({ seed, assembly, folder, deaths }: RoundOptions): Promise<Round> {
  const data = join(folder, 'data');
  mkdirSync(data, { recursive: true });
  for (const file of ['go', 'runs']) writeFileSync(join(folder, file), '');
  const random = randomOf(seed, 0);
  const asking: string[] = [];
  let next = Promise.withResolvers<CloudProcess>();
  const lives: Lives = { asking, current: () => next.promise };
  let over = false;
  let calls = 0;
  const work = { folder, number: () => ++calls, enough: () => over };
  const playing = Promise.all(Array.from({ length: CLIENTS }, (_, i) => play(lives, randomOf(seed, i + 1), work)));
  // It is awaited below, where its errors show.
  playing.catch(() => undefined);

  const kills: string[] = [];
  const missed: Death[] = [];
  const start = async (death?: Death) => {
    const nth = 1 + random.int(4);
    const args = death === undefined || death === 'any time' ? [] : [death, String(nth)];
    const life = await startProcess('test/cloud/kills/cloud.ts', assembly, data, ...args);
    const following = Promise.withResolvers<CloudProcess>();
    let fallenUpon: string[] = [];
    const gone = life.gone.then(() => {
      fallenUpon = [...asking];
      next = following;
    });
    next.resolve({ ...life, gone });
    return { life, gone, nth, fallenUpon: () => fallenUpon };
  };
  for (const death of deaths) {
    const { life, gone, nth, fallenUpon } = await start(death);
    if (!(await dies(gone, death, random))) {
      if (death !== 'any time') missed.push(death);
      await life.kill();
      await gone;
    }
    kills.push(`${death}${death === 'any time' ? '' : ` (${nth})`}: ${summary(fallenUpon()) || 'nothing'}`);
  }
  const { life } = await start();
  try {
    await sleep(500);
    over = true;
    const stories = (await playing).flat();
    const last = await lastStates(stories);
    const runs = readFileSync(join(folder, 'runs'), 'utf8').split('\n');
    const runsOf = (call: number) => runs.filter((line) => line === String(call)).length;
    const ends: Record<string, number> = {};
    for (const { status } of last.values()) ends[status] = (ends[status] ?? 0) + 1;
    return { kills, stories, ends, missed, wrong: judge(stories, last, runsOf) };
  } finally {
    await life.kill();
  }
}

/** Whether the process dies by itself before it is too late, or by chance. */
async function dies(gone: Promise<void>, death: Death, random: Random): Promise<boolean> {
  const waited = new AbortController();
  const ms = death === 'any time' ? 200 + random.int(1_000) : MOST_MS;
  const alive = sleep(ms, false, { signal: waited.signal }).catch(() => false);
  const dead = await Promise.race([gone.then(() => true), alive]);
  waited.abort();
  return dead;
}

/** The last state of each task, which may take as long as its tool. */
async function lastStates(stories: readonly Story[]): Promise<ReadonlyMap<string, Seen>> {
  const last = new Map<string, Seen>();
  for (const { client, taskIds } of stories) {
    for (const taskId of taskIds) {
      let seen = await client.read(taskId);
      for (const since = performance.now(); !isOver(seen) && performance.now() - since < 60_000; ) {
        await sleep(100);
        seen = await client.read(taskId);
      }
      last.set(taskId, seen);
    }
  }
  return last;
}

/** The count of each kind. */
function summary(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${count} ${name}`).join(', ');
}
