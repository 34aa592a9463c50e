import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDir } from '../fixture.ts';
import { errorOf, pause, textOf, until, useBench } from './fixtures.ts';

const bench = useBench();

/** Answers the worker that took the event, and its concurrent events. Waits for a file, or computes until it exists. */
const source = `const { threadId } = require('node:worker_threads');
  const { existsSync } = require('node:fs');
  let open = 0;
  exports.handler = async ({ ms = 1, act, spin, until }) => {
    open++;
    const atOnce = open;
    while (spin && !existsSync(spin));
    while (until && !existsSync(until)) await new Promise((resolve) => setTimeout(resolve, 20));
    await new Promise((resolve) => setTimeout(resolve, ms));
    open--;
    if (act === 'exit') process.exit(7);
    if (act === 'throw') throw new Error(act);
    return { threadId, atOnce };
  };`;
/** The scale that makes an event share a worker soon: it divides the wait for the event's own worker. */
const soon = { sharedWorkers: true, timeScale: 5 };
const event = (value: object) => JSON.stringify(value);
const flag = () => join(temporaryDir(), 'set');
const set = (file: string) => writeFileSync(file, '');
const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

describe('events of a function that wait', () => {
  it('200 that sleep a minute in 16 workers: one more is answered while all of them sleep', async () => {
    const lambda = bench.open([bench.define('held', source, { timeoutSeconds: 300 })], {
      ...{ sharedWorkers: true, maxMemoryMb: 4_096 },
    });
    const held = times(200, () => lambda.invoke('held', event({ ms: 60_000 })));
    let ended = 0;
    for (const one of held) one.catch(() => undefined).finally(() => ended++);
    await until(() => lambda.workers()[0]?.busy === 200);
    expect(lambda.workers()[0]?.count).toBe(16);
    expect(JSON.parse((await lambda.invoke('held', '{}')).payload).atOnce).toBeGreaterThan(1);
    expect(ended).toBe(0);
  });

  it('have a worker each while another one may start', async () => {
    const lambda = bench.open([bench.define('few', source)], { ...soon, maxWorkersPerFunction: 3 });
    const until_ = flag();
    const three = times(3, () => lambda.invoke('few', event({ until: until_ })));
    await until(() => lambda.workers()[0]?.busy === 3);
    const fourth = lambda.invoke('few', event({ until: until_ }));
    await until(() => lambda.workers()[0]?.busy === 4);
    set(until_);
    const atOnce = async (one: (typeof three)[number]) => JSON.parse((await one).payload).atOnce;
    expect(await Promise.all(three.map(atOnce))).toEqual([1, 1, 1]);
    expect(await atOnce(fourth)).toBe(2);
  });

  it('do not share a worker whose event ends soon', async () => {
    // A wait of half a second becomes two minutes.
    const options = { sharedWorkers: true, timeScale: 1 / 250, maxWorkersPerFunction: 2 };
    const lambda = bench.open([bench.define('short', source)], options);
    const all = await Promise.all(times(6, () => lambda.invoke('short', event({ ms: 30 }))));
    for (const { payload } of all) expect(JSON.parse(payload)).toMatchObject({ atOnce: 1 });
  });

  it('do not go to a worker that computes', async () => {
    const lambda = bench.open([bench.define('computes', source)], {
      ...soon,
      maxWorkersPerFunction: 2,
    });
    const [spin, wait] = [flag(), flag()];
    const waits = lambda.invoke('computes', event({ until: wait }));
    await until(() => lambda.workers()[0]?.busy === 1);
    const spins = lambda.invoke('computes', event({ spin }));
    await until(() => lambda.workers()[0]?.busy === 2);
    const others = await Promise.all(times(10, () => lambda.invoke('computes', '{}')));
    set(spin);
    set(wait);
    const [waited, spun] = (await Promise.all([waits, spins])).map(({ payload }) => JSON.parse(payload).threadId);
    expect(spun).not.toBe(waited);
    expect(new Set(others.map(({ payload }) => JSON.parse(payload).threadId))).toEqual(new Set([waited]));
  });

  it('have a worker to themselves where sharing is switched off', async () => {
    const lambda = bench.open([bench.define('single', source)], { maxWorkersPerFunction: 2, timeScale: 50 });
    await Promise.all(times(2, () => lambda.invoke('single', '{}')));
    const file = flag();
    const two = times(2, () => lambda.invoke('single', event({ until: file })));
    await expect(lambda.invoke('single', '{}')).rejects.toMatchObject({ type: 'TooManyRequestsException' });
    set(file);
    for (const one of two) expect(JSON.parse((await one).payload)).toMatchObject({ atOnce: 1 });
  });

  it('count each as an execution of the account', async () => {
    const lambda = bench.open([bench.define('counted', source)], { ...soon, maxWorkersPerFunction: 1, concurrency: 3 });
    const file = flag();
    const three = times(3, () => lambda.invoke('counted', event({ until: file })));
    await until(() => lambda.workers()[0]?.busy === 3);
    await expect(lambda.invoke('counted', '{}')).rejects.toMatchObject({ type: 'TooManyRequestsException' });
    set(file);
    await Promise.all(three);
    expect((await lambda.invoke('counted', '{}')).functionError).toBeUndefined();
  });
});

describe('a worker that events share', () => {
  const one = { ...soon, maxWorkersPerFunction: 1 };

  it('times out each event separately, then takes no more, and ends with the last', async () => {
    const lambda = bench.open([bench.define('late', source, { timeoutSeconds: 2 })], { ...one, timeScale: 20 });
    await lambda.invoke('late', '{}');
    const late = lambda.invoke('late', event({ ms: 60_000 }));
    await pause(1_000);
    const until_ = flag();
    const other = lambda.invoke('late', event({ until: until_ }));
    const timedOut = await late;
    set(until_);
    expect(errorOf(timedOut).errorType).toBe('Sandbox.Timedout');
    const [next, fine] = await Promise.all([lambda.invoke('late', '{}'), other]);
    expect(JSON.parse(fine.payload)).toMatchObject({ atOnce: 2 });
    expect(JSON.parse(next.payload)).toMatchObject({ atOnce: 1 });
    expect(JSON.parse(next.payload).threadId).not.toBe(JSON.parse(fine.payload).threadId);
    expect(lambda.workers()[0]).toMatchObject({ count: 1, busy: 0 });
  });

  it('fails only the event that throws, and all events when it exits or is killed', async () => {
    const lambda = bench.open([bench.define('breaks', source)], one);
    const send = (value: object) => lambda.invoke('breaks', event(value));
    const file = flag();
    const both = Promise.all([send({ until: file, act: 'throw' }), send({ until: file })]);
    await until(() => lambda.workers()[0]?.busy === 2);
    set(file);
    const [thrown, fine] = await both;
    expect([errorOf(thrown).errorMessage, fine.functionError]).toEqual(['throw', undefined]);
    const exit = flag();
    const exits = Promise.all([send({ until: exit, act: 'exit' }), send({ ms: 60_000 })]);
    await until(() => lambda.workers()[0]?.busy === 2);
    set(exit);
    for (const result of await exits) expect(errorOf(result).errorMessage).toMatch(/exit status 7$/);
    let worker = '';
    const killed = times(2, () => lambda.invoke('breaks', event({ ms: 60_000 }), { onWorker: (id) => (worker = id) }));
    await until(() => lambda.workers()[0]?.busy === 2);
    expect(await lambda.killWorker(worker)).toBe(true);
    for (const result of await Promise.all(killed)) expect(errorOf(result).errorMessage).toMatch(/signal: killed$/);
    expect(JSON.parse((await send({})).payload)).toMatchObject({ atOnce: 1 });
  });

  it('logs each line with the event that wrote it, parts of lines included', async () => {
    const writes = `console.log('init');
      const { existsSync } = require('node:fs');
      exports.handler = async ({ name, until }, { awsRequestId }) => {
        process.stdout.write(name);
        while (!existsSync(until)) await new Promise((resolve) => setTimeout(resolve, 20));
        await new Promise((resolve) => setTimeout(() => resolve(process.stdout.write('.')), 5));
        process.stdout.write(name + '\\n' + awsRequestId);
      };`;
    const lines: [string, string | undefined][] = [];
    const lambda = bench.open([bench.define('writes', writes)], {
      ...one,
      onLog: (_name, line, _stream, requestId) => lines.push([line, requestId]),
    });
    const file = flag();
    const all = ['a', 'b', 'c'].map((name) => lambda.invoke('writes', event({ name, until: file })));
    await until(() => lambda.workers()[0]?.busy === 3);
    set(file);
    await Promise.all(all);
    expect(lines).toContainEqual(['init', undefined]);
    const ids = lines.filter(([line, id]) => line === id).map(([, id]) => id);
    expect(new Set(ids).size).toBe(3);
    const texts = ids.map((id) => lines.find((line) => line[1] === id)?.[0]);
    expect(texts.sort()).toEqual(['a.a', 'b.b', 'c.c']);
  });
});

describe('streams', () => {
  it('share from the first on: 150 that are held have three workers, within the bound', async () => {
    const file = flag();
    const held = `const { existsSync } = require('node:fs');
      exports.handler = awslambda.streamifyResponse(async (_event, stream) => {
        const out = awslambda.HttpResponseStream.from(stream, { statusCode: 200 });
        out.write('begun');
        while (!existsSync('${file}')) await new Promise((resolve) => setTimeout(resolve, 20));
        out.end();
      });`;
    const lambda = bench.open([bench.define('many', held, { timeoutSeconds: 300 })], { sharedWorkers: true });
    const all = times(150, () => lambda.invokeStreaming('many', '{}'));
    await until(() => lambda.workers()[0]?.busy === 150 && lambda.workers()[0]?.count === 3);
    set(file);
    for (const { body } of await Promise.all(all)) expect(await textOf(body)).toBe('begun');
    await until(() => lambda.workers()[0]?.busy === 0);
    expect(lambda.workers()[0]?.count).toBe(3);
  });

  it('that wait for a worker all fail if its module does not load', async () => {
    const lambda = bench.open([bench.define('unloadable', 'throw new Error("bad");')], { sharedWorkers: true });
    const failures = times(5, () => lambda.invokeStreaming('unloadable', '{}').catch(String));
    expect(await Promise.all(failures)).toEqual(times(5, () => 'FunctionError: Error: bad'));
  });

  it('go each to its own reader, slow or not', async () => {
    const streams = `exports.handler = awslambda.streamifyResponse(async ({ name }, stream) => {
        const out = awslambda.HttpResponseStream.from(stream, { statusCode: 200 });
        for (let i = 0; i < 8; i++) {
          if (!out.write(name.repeat(50_000))) await new Promise((resolve) => out.once('drain', resolve));
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
        out.end();
      });`;
    const options = { sharedWorkers: true, maxWorkersPerFunction: 1 };
    const lambda = bench.open([bench.define('streams', streams)], options);
    const [slow, ...others] = await Promise.all(
      ['a', 'b', 'c'].map((name) => lambda.invokeStreaming('streams', event({ name }))),
    );
    for (const [i, { body }] of others.entries()) expect(await textOf(body)).toBe('bc'.charAt(i).repeat(400_000));
    await until(() => lambda.workers()[0]?.busy === 1);
    expect(slow && (await textOf(slow.body))).toBe('a'.repeat(400_000));
  });
});
