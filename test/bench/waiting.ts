import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { synthApp } from '../../local/testing.ts';
import { create, type Held, legacyTask, listen, request, Unavailable } from './waiting/client.ts';
import { startServer } from './waiting/server.ts';

/**
 * `npm run bench:waiting`: 200 `subscriptions/listen` and 200 `tasks/result` streams over 200 runs of one function that
 * sleep for 30 seconds, and the times of other calls meanwhile; then 100 tasks created in parallel, each cancelled at once.
 * Prints the numbers; exits 1 when one is beyond its bound. All on 127.0.0.1, within three minutes.
 */
const NAP = 30_000;
const TASKS_EACH = 100;
const STREAMS_EACH = 2;
const AT_ONCE = 50;
const BURST = 100;
const DEADLINE = 150_000;
const bounds = { plain: 1_000, start: 1_000, one: 2_000, megabytes: 2_000, burst: 2_000 };

const folder = mkdtempSync(join(tmpdir(), 'mcp-waiting-'));
await synthApp('test/bench/waiting/app.ts', folder);
const server = await startServer(['--assembly', folder]);
const { url } = server;
const failures: string[] = [];

function print(what: string, value: string | number, held = true): void {
  if (!held) failures.push(what);
  console.log(`${held ? ' ' : '!'} ${what.padEnd(62)} ${value}`);
}

const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN;

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

/** Calls at a fixed pace, also before earlier calls are answered. When stopped, returns how long each took. */
function clientOf(everyMs: number, call: () => Promise<unknown>): () => Promise<number[]> {
  const calls: Promise<number>[] = [];
  const timer = setInterval(() => {
    const since = performance.now();
    calls.push(call().then(() => performance.now() - since));
    calls.at(-1)?.catch(() => undefined);
  }, everyMs);
  return () => {
    clearInterval(timer);
    return Promise.all(calls);
  };
}

let turn = 0;
const plain = () =>
  turn++ % 2 === 0 ? request(url, 'tools/list') : request(url, 'tools/call', { name: 'plain', arguments: {} });

/** Does all of it with bounded concurrency: the bench measures many that wait, not many that arrive at once. */
async function inTurns<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const queue = [...items.entries()];
  const results: R[] = [];
  const one = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) results[next[0]] = await work(next[1]);
  };
  await Promise.all(times(AT_ONCE, one));
  return results;
}

let refused = 0;
/** Opens a stream, and again while the server says to try again. */
async function opened(open: () => Held): Promise<Held> {
  for (;;) {
    const held = open();
    try {
      await held.acknowledged;
      return held;
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      refused++;
      await sleep(2_000);
    }
  }
}

async function waiting(): Promise<void> {
  const since = performance.now();
  const [asleep, sessions] = await Promise.all([
    Promise.all(times(TASKS_EACH, () => create(url, 'nap', { ms: NAP }))),
    Promise.all(times(TASKS_EACH, () => legacyTask(url, 'nap', { ms: NAP }))),
  ]);
  const asleepAfter = performance.now();
  print(`${2 * TASKS_EACH} runs of one function asleep: memory of the process`, `${server.megabytes()} MB`);
  const one = await create(url, 'stamp');
  while ((await request(url, 'tasks/get', { taskId: one })).status !== 'completed') await sleep(20);
  const took = performance.now() - asleepAfter;
  print(`one more of it: until it is done, at most ${bounds.one} ms`, `${Math.round(took)} ms`, took <= bounds.one);
  const openers = [
    ...asleep.flatMap((taskId) => times(STREAMS_EACH, () => () => listen(url, taskId))),
    ...sessions.flatMap((open) => times(STREAMS_EACH, () => open)),
  ];
  const streams = await inTurns(openers, opened).catch((error: unknown) => {
    if (performance.now() - since < NAP) throw error;
    throw new Error('this machine is too busy: the tools woke before all streams were held', { cause: error });
  });
  print('openings refused as unavailable, and tried again', refused, refused === 0);
  const openedAfter = performance.now() - since;
  print(`${2 * TASKS_EACH} tasks asleep, ${streams.length} streams held: all after`, `${Math.round(openedAfter)} ms`);

  let ended = 0;
  for (const { result } of streams) void result.then(() => ended++);
  const stamps: Promise<{ sent: number; taskId: string }>[] = [];
  const stopPlain = clientOf(50, plain);
  const stopStarts = clientOf(500, () => {
    const sent = Date.now();
    stamps.push(create(url, 'stamp').then((taskId) => ({ sent, taskId })));
    return stamps.at(-1) ?? Promise.resolve();
  });
  const until = performance.now() + NAP - openedAfter - 2_000;
  while (performance.now() < until) await sleep(100);
  const endedEarly = ended;
  const [latencies] = [await stopPlain(), await stopStarts()];
  print('streams that ended while this was measured', endedEarly, endedEarly === 0);
  print(`plain calls (${latencies.length}): median`, `${Math.round(percentile(latencies, 0.5))} ms`);
  const p99 = percentile(latencies, 0.99);
  print(`plain calls: 99th percentile, at most ${bounds.plain} ms`, `${Math.round(p99)} ms`, p99 <= bounds.plain);

  const results = await Promise.all(streams.map(({ result }: Held) => result));
  const answered = results.filter((result) => result !== undefined).length;
  print('streams that ended with their result', `${answered} of ${streams.length}`, answered === streams.length);
  const starts: number[] = [];
  for (const { sent, taskId } of await Promise.all(stamps)) {
    const { result } = await request(url, 'tasks/get', { taskId });
    starts.push(Number(result.content[0].text) - sent);
  }
  const slowest = Math.max(...starts);
  print(`new tasks (${starts.length}): median until the tool runs`, `${percentile(starts, 0.5)} ms`);
  print(`new tasks: the slowest, at most ${bounds.start} ms`, `${slowest} ms`, slowest <= bounds.start);
}

async function burst(): Promise<void> {
  const stop = clientOf(50, plain);
  await sleep(500);
  const since = performance.now();
  await Promise.all(
    times(BURST, async () => {
      const taskId = await create(url, 'nap', { ms: NAP });
      await request(url, 'tasks/cancel', { taskId });
    }),
  );
  print(
    `${BURST} tasks created in parallel, each cancelled at once: all after`,
    `${Math.round(performance.now() - since)} ms`,
  );
  await sleep(3_000);
  const latencies = await stop();
  const slowest = Math.max(...latencies);
  const what = `calls of others meanwhile (${latencies.length}): the slowest, at most ${bounds.burst} ms`;
  print(what, `${Math.round(slowest)} ms`, slowest <= bounds.burst);
}

async function end(): Promise<void> {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
  const { length } = server.problems;
  if (length > 0) console.error(`the log has ${length} lines that are no audit:`, server.problems.slice(0, 10));
  if (failures.length > 0) console.error(`beyond its bound: ${failures.join('; ')}`);
}

const deadline = setTimeout(async () => {
  console.error(`not done after ${DEADLINE / 1_000} s`);
  await end();
  process.exit(1);
}, DEADLINE);
try {
  await plain();
  await waiting();
  await burst();
  const megabytes = server.mostMegabytes();
  print(`memory of the process, at most ${bounds.megabytes} MB`, `${megabytes} MB`, megabytes <= bounds.megabytes);
} finally {
  clearTimeout(deadline);
  await end();
}
process.exitCode = failures.length === 0 ? 0 : 1;
