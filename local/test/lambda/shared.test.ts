import { describe, expect, it } from 'vitest';
import { errorOf, pause, textOf, until, useBench } from './fixtures.ts';

const bench = useBench();

/** Answers which worker took the event, and how many events it had at once. */
const source = `const { threadId } = require('node:worker_threads');
  let open = 0;
  exports.handler = async ({ ms = 1, name, act }) => {
    open++;
    console.log('begin ' + name);
    await new Promise((resolve) => setTimeout(resolve, ms));
    console.log('end ' + name);
    if (act === 'exit') process.exit(7);
    if (act === 'throw') throw new Error(name);
    return { threadId, atOnce: open-- };
  };`;
const shared = { sharedWorker: true };
const event = (value: object) => JSON.stringify(value);

describe('a worker that events share', () => {
  it('40 events that wait and 2 workers: one more is answered', async () => {
    const lambda = bench.open([bench.define('held', source, shared)], { maxWorkersPerFunction: 2 });
    const held = Array.from({ length: 40 }, () => lambda.invoke('held', event({ ms: 1_500 })));
    await until(() => lambda.workers()[0]?.busy === 40);
    let waiting = true;
    const all = Promise.all(held).finally(() => (waiting = false));
    expect(JSON.parse((await lambda.invoke('held', '{}')).payload)).toMatchObject({ atOnce: 41 });
    expect(waiting).toBe(true);
    await all;
  });

  it('is one of few: 150 events at once have three, within the bound', async () => {
    const lambda = bench.open([bench.define('many', source, shared)]);
    const all = Array.from({ length: 150 }, () => lambda.invoke('many', event({ ms: 2_500 })));
    await until(() => lambda.workers()[0]?.busy === 150 && lambda.workers()[0]?.count === 3);
    await Promise.all(all);
    expect(lambda.workers()[0]).toMatchObject({ count: 3, busy: 0 });
  });

  it.each([
    ['the function does not say so', {}, {}],
    ['it is switched off', shared, { sharedWorkers: false }],
  ])('is not, where %s: one event at a time in each', async (_, spec, options) => {
    const lambda = bench.open([bench.define('single', source, spec)], { ...options, maxWorkersPerFunction: 2 });
    const all = await Promise.all(Array.from({ length: 6 }, () => lambda.invoke('single', event({ ms: 30 }))));
    for (const { payload } of all) expect(JSON.parse(payload)).toMatchObject({ atOnce: 1 });
  });

  it('counts each of its events as an execution of the account', async () => {
    const lambda = bench.open([bench.define('counted', source, shared)], { concurrency: 3 });
    const three = Array.from({ length: 3 }, () => lambda.invoke('counted', event({ ms: 400 })));
    await until(() => lambda.workers()[0]?.busy === 3);
    await expect(lambda.invoke('counted', '{}')).rejects.toMatchObject({ type: 'TooManyRequestsException' });
    await Promise.all(three);
    expect((await lambda.invoke('counted', '{}')).functionError).toBeUndefined();
  });

  it('times out each event for itself, then takes no more, and ends with the last', async () => {
    const lambda = bench.open([bench.define('late', source, { ...shared, timeoutSeconds: 0.5 })], {
      maxWorkersPerFunction: 1,
    });
    await lambda.invoke('late', '{}');
    const late = lambda.invoke('late', event({ ms: 60_000 }));
    await pause(300);
    const other = lambda.invoke('late', event({ ms: 400 }));
    expect(errorOf(await late).errorType).toBe('Sandbox.Timedout');
    const [next, fine] = await Promise.all([lambda.invoke('late', '{}'), other]);
    expect(JSON.parse(fine.payload)).toMatchObject({ atOnce: 2 });
    expect(JSON.parse(next.payload)).toMatchObject({ atOnce: 1 });
    expect(JSON.parse(next.payload).threadId).not.toBe(JSON.parse(fine.payload).threadId);
    expect(lambda.workers()[0]).toMatchObject({ count: 1, busy: 0 });
  });

  it('that loops without an end is ended by the timeouts of its events', async () => {
    const spins = 'exports.handler = async ({ spin }) => { while (spin); return 1; };';
    const lambda = bench.open([bench.define('spins', spins, { ...shared, timeoutSeconds: 0.3 })]);
    await lambda.invoke('spins', '{}');
    const both = await Promise.all([lambda.invoke('spins', event({ spin: true })), lambda.invoke('spins', '{}')]);
    expect(both.map((result) => errorOf(result).errorType)).toEqual(['Sandbox.Timedout', 'Sandbox.Timedout']);
    expect((await lambda.invoke('spins', '{}')).payload).toBe('1');
  });

  it('fails an event alone that throws, and all of its events when it exits or is killed', async () => {
    const lambda = bench.open([bench.define('breaks', source, shared)], { maxWorkersPerFunction: 1 });
    const send = (value: object) => lambda.invoke('breaks', event(value));
    const [thrown, fine] = await Promise.all([send({ act: 'throw', name: 'alone' }), send({ ms: 50 })]);
    expect([errorOf(thrown).errorMessage, fine.functionError]).toEqual(['alone', undefined]);
    const [exits, with_] = await Promise.all([send({ act: 'exit' }), send({ ms: 60_000 })]);
    for (const result of [exits, with_]) expect(errorOf(result).errorMessage).toMatch(/exit status 7$/);
    let worker = '';
    const killed = [1, 2].map(() =>
      lambda.invoke('breaks', event({ ms: 60_000 }), { onWorker: (id) => (worker = id) }),
    );
    await until(() => lambda.workers()[0]?.busy === 2);
    expect(await lambda.killWorker(worker)).toBe(true);
    for (const result of await Promise.all(killed)) expect(errorOf(result).errorMessage).toMatch(/signal: killed$/);
    expect(JSON.parse((await send({})).payload)).toMatchObject({ atOnce: 1 });
  });

  it('fails all that wait for it when its module does not load', async () => {
    const lambda = bench.open([bench.define('unloadable', 'throw new Error("bad");', shared)]);
    const results = await Promise.all(Array.from({ length: 5 }, () => lambda.invoke('unloadable', '{}')));
    expect(results.map((result) => errorOf(result).errorMessage)).toEqual(Array(5).fill('bad'));
  });

  it('says of each line which event wrote it, parts of lines included', async () => {
    const writes = `console.log('init');
      exports.handler = async ({ name }, { awsRequestId }) => {
        process.stdout.write(name);
        await new Promise((resolve) => setTimeout(resolve, 20));
        setTimeout(() => process.stdout.write('.'), 5);
        await new Promise((resolve) => setTimeout(resolve, 20));
        process.stdout.write(name + '\\n' + awsRequestId);
      };`;
    const lines: [string, string | undefined][] = [];
    const lambda = bench.open([bench.define('writes', writes, shared)], {
      onLog: (_name, line, _stream, requestId) => lines.push([line, requestId]),
    });
    await Promise.all(['a', 'b', 'c'].map((name) => lambda.invoke('writes', event({ name }))));
    expect(lines).toContainEqual(['init', undefined]);
    const ids = lines.filter(([line, id]) => line === id).map(([, id]) => id);
    expect(new Set(ids).size).toBe(3);
    const texts = ids.map((id) => lines.find((line) => line[1] === id)?.[0]);
    expect(texts.sort()).toEqual(['a.a', 'b.b', 'c.c']);
  });

  it('streams many answers at once, each to its own reader, slow or not', async () => {
    const streams = `exports.handler = awslambda.streamifyResponse(async ({ name }, stream) => {
        const out = awslambda.HttpResponseStream.from(stream, { statusCode: 200 });
        for (let i = 0; i < 8; i++) {
          if (!out.write(name.repeat(50_000))) await new Promise((resolve) => out.once('drain', resolve));
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
        out.end();
      });`;
    const lambda = bench.open([bench.define('streams', streams, shared)], { maxWorkersPerFunction: 1 });
    const [slow, ...others] = await Promise.all(
      ['a', 'b', 'c'].map((name) => lambda.invokeStreaming('streams', event({ name }))),
    );
    for (const [i, { body }] of others.entries()) expect(await textOf(body)).toBe('bc'.charAt(i).repeat(400_000));
    await until(() => lambda.workers()[0]?.busy === 1);
    expect(slow && (await textOf(slow.body))).toBe('a'.repeat(400_000));
  });
});
