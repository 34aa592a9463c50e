import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AwsError } from '../../aws-error.ts';
import { temporaryDir } from '../fixture.ts';
import { errorOf, pause, until, useBench } from './fixtures.ts';

const bench = useBench();

/** Answers the worker that took the event, its number of concurrent events, and their order. */
const counting = `const { threadId } = require('node:worker_threads');
  const { existsSync } = require('node:fs');
  let open = 0, served = 0;
  exports.handler = async ({ ms = 50, name, crash, released }) => {
    open++;
    console.log('begin ' + name);
    if (crash) process.exit(1);
    while (released && !existsSync(released)) await new Promise((resolve) => setTimeout(resolve, 20));
    await new Promise((resolve) => setTimeout(resolve, ms));
    console.log('end ' + name);
    return { threadId, atOnce: open--, served: ++served };
  };`;

interface Answer {
  threadId: number;
  atOnce: number;
  served: number;
}

describe('parallel invocations', () => {
  it('run in several workers, one event at a time in each', async () => {
    const lambda = bench.open([bench.define('parallel', counting)]);
    const results = await Promise.all(Array.from({ length: 20 }, () => lambda.invoke('parallel', '{}')));
    const answers = results.map(({ payload }): Answer => JSON.parse(payload));
    expect(answers.every(({ atOnce }) => atOnce === 1)).toBe(true);
    const workers = new Set(answers.map(({ threadId }) => threadId));
    expect(workers.size).toBeGreaterThan(1);
    expect(workers.size).toBeLessThanOrEqual(16);
    expect(Math.max(...answers.map(({ served }) => served))).toBeGreaterThan(1);
  });

  it('keep to the bound and come in turn beyond it', async () => {
    const begun: string[] = [];
    const lambda = bench.open([bench.define('bounded', counting)], {
      maxWorkersPerFunction: 1,
      onLog: (_name, line) => line.startsWith('begin') && begun.push(line.slice(6)),
    });
    const names = ['a', 'b', 'c', 'd', 'e'];
    const all = Promise.all(names.map((name) => lambda.invoke('bounded', JSON.stringify({ name, ms: 5 }))));
    await until(() => begun.length > 0);
    expect(lambda.workers()).toEqual([{ functionName: 'bounded', count: 1, busy: 1 }]);
    await all;
    expect(begun).toEqual(names);
  });

  it('continue after one that breaks its worker', async () => {
    const lambda = bench.open([bench.define('breaking', counting)], { maxWorkersPerFunction: 1 });
    const [broken, next] = await Promise.all([
      lambda.invoke('breaking', '{"crash":true}'),
      lambda.invoke('breaking', '{"ms":1}'),
    ]);
    expect(errorOf(broken).errorType).toBe('Runtime.ExitError');
    expect(JSON.parse(next.payload)).toMatchObject({ served: 1 });
  });

  it('of different functions do not share workers', async () => {
    const lambda = bench.open([bench.define('one', counting), bench.define('two', counting)], {
      maxWorkersPerFunction: 1,
    });
    const [one, two] = await Promise.all([lambda.invoke('one', '{"ms":20}'), lambda.invoke('two', '{"ms":20}')]);
    expect(JSON.parse(one.payload).threadId).not.toBe(JSON.parse(two.payload).threadId);
    expect(lambda.workers().map(({ functionName, count }) => [functionName, count])).toEqual([
      ['one', 1],
      ['two', 1],
    ]);
  });
});

describe('the concurrent executions of the account', () => {
  const throttled = (reason: string) => ({ type: 'TooManyRequestsException', status: 429, reason });
  const ACCOUNT = throttled('ConcurrentInvocationLimitExceeded');

  it('are shared by all functions; one more is refused at once, and once one ends there is room', async () => {
    const lambda = bench.open([bench.define('here', counting), bench.define('there', counting)], { concurrency: 2 });
    let over = false;
    const both = Promise.all([lambda.invoke('here', '{"ms":3000}'), lambda.invoke('there', '{"ms":3000}')]);
    void both.then(() => (over = true));
    await expect(lambda.invoke('here', '{}')).rejects.toMatchObject(ACCOUNT);
    await expect(lambda.invokeStreaming('there', '{}')).rejects.toMatchObject(ACCOUNT);
    expect(over).toBe(false);
    await both;
    expect(JSON.parse((await lambda.invoke('here', '{"ms":1}')).payload)).toMatchObject({ served: 2 });
  });

  it('count a function whose caller has gone', async () => {
    const lambda = bench.open([bench.define('abandoned', counting)], { concurrency: 1 });
    const caller = new AbortController();
    const left = lambda.invoke('abandoned', '{"ms":300}', { signal: caller.signal });
    await until(() => lambda.workers()[0]?.busy === 1);
    caller.abort();
    await expect(left).rejects.toThrow();
    await expect(lambda.invoke('abandoned', '{}')).rejects.toMatchObject(ACCOUNT);
    await until(() => lambda.workers()[0]?.busy === 0);
    expect(JSON.parse((await lambda.invoke('abandoned', '{"ms":1}')).payload)).toMatchObject({ served: 2 });
  });

  it('that a function reserves are only its own, and its maximum', async () => {
    const functions = [bench.define('kept', counting, { reservedConcurrency: 1 }), bench.define('rest', counting)];
    const lambda = bench.open(functions, { concurrency: 101 });
    const running = lambda.invoke('kept', '{"ms":200}');
    const reserved = throttled('ReservedFunctionConcurrentInvocationLimitExceeded');
    await expect(lambda.invoke('kept', '{}')).rejects.toMatchObject(reserved);
    expect(JSON.parse((await lambda.invoke('rest', '{"ms":1}')).payload)).toMatchObject({ served: 1 });
    await running;
    expect(lambda.workers()[0]).toEqual({ functionName: 'kept', count: 1, busy: 0 });
  });

  it('leave 100 to the functions that reserve none, or all where there are fewer', () => {
    const spec = bench.define('greedy', counting, { reservedConcurrency: 1 });
    const refused = 'Lambda refuses the reserved concurrency of greedy: of the';
    expect(() => bench.open([spec], { concurrency: 100 })).toThrow(`${refused} 100 concurrent executions`);
    expect(() => bench.open([spec], { concurrency: 10 })).toThrow(`${refused} 10 concurrent executions`);
    expect(() => bench.open([spec], { concurrency: 0 })).toThrow('0 cannot be a number of concurrent executions');
    bench.open([spec], { concurrency: 101 });
  });
});

describe('throttling', () => {
  it('refuses an event that waited too long for a worker', async () => {
    const lambda = bench.open([bench.define('throttled', counting)], { maxWorkersPerFunction: 1, timeScale: 100 });
    await lambda.invoke('throttled', '{"ms":1}');
    const released = join(temporaryDir(), 'released');
    const running = lambda.invoke('throttled', JSON.stringify({ released }));
    const error = await lambda.invoke('throttled', '{}').catch((reason: unknown) => reason);
    writeFileSync(released, '');
    expect(error).toBeInstanceOf(AwsError);
    expect(error).toMatchObject({ type: 'TooManyRequestsException', status: 429 });
    expect(JSON.parse((await running).payload)).toMatchObject({ served: 2 });
  });

  it('does not refuse an event that waits for a starting worker', async () => {
    const lambda = bench.open([bench.define('starting', counting)], { timeScale: 10_000 });
    expect(JSON.parse((await lambda.invoke('starting', '{"ms":1}')).payload)).toMatchObject({ served: 1 });
  });

  it('lets asynchronous invocations wait', async () => {
    const ended: string[] = [];
    const lambda = bench.open([bench.define('patient', counting)], {
      maxWorkersPerFunction: 1,
      timeScale: 1_000,
      onLog: (_name, line) => line.startsWith('end') && ended.push(line),
    });
    const first = lambda.invoke('patient', '{"name":"first","ms":100}');
    const event = await lambda.invoke('patient', '{"name":"event","ms":1}', { event: true });
    expect(event).toEqual({ statusCode: 202, payload: '', executedVersion: '$LATEST' });
    await first;
    await until(() => ended.length === 2);
    expect(ended).toEqual(['end first', 'end event']);
  });
});

describe('idle workers', () => {
  it('are used youngest first', async () => {
    const lambda = bench.open([bench.define('idle', counting)]);
    await Promise.all([lambda.invoke('idle', '{"ms":60}'), lambda.invoke('idle', '{"ms":60}')]);
    const used = new Set<number>();
    for (let i = 0; i < 8; i++) used.add(JSON.parse((await lambda.invoke('idle', '{"ms":1}')).payload).threadId);
    expect([used.size, lambda.workers()[0]?.count]).toEqual([1, 2]);
  });

  it('end after a while, one that works meanwhile does not', async () => {
    const lambda = bench.open([bench.define('idle', counting)], { idleMs: 150 });
    await Promise.all([lambda.invoke('idle', '{"ms":60}'), lambda.invoke('idle', '{"ms":60}')]);
    let last = 0;
    while ((lambda.workers()[0]?.count ?? 0) > 1) {
      ({ threadId: last } = JSON.parse((await lambda.invoke('idle', '{"ms":300}')).payload));
    }
    expect(last).toBeGreaterThan(0);
    await until(() => lambda.workers()[0]?.count === 0);
  });
});

describe('a caller that disconnects', () => {
  it('is answered at once; the function continues', async () => {
    const lines: string[] = [];
    const lambda = bench.open([bench.define('left', counting)], { onLog: (_name, line) => lines.push(line) });
    const caller = new AbortController();
    const result = lambda.invoke('left', '{"name":"x","ms":80}', { signal: caller.signal });
    await until(() => lines.includes('begin x'));
    caller.abort(new Error('gone'));
    await expect(result).rejects.toThrow('gone');
    expect(lambda.workers()[0]).toMatchObject({ busy: 1 });
    await until(() => lines.includes('end x'));
    await until(() => lambda.workers()[0]?.busy === 0);
    expect(lambda.workers()[0]?.count).toBe(1);
  });

  it('withdraws an event that has not begun', async () => {
    const lines: string[] = [];
    const lambda = bench.open([bench.define('withdrawn', counting)], {
      maxWorkersPerFunction: 1,
      onLog: (_name, line) => lines.push(line),
    });
    const caller = new AbortController();
    const first = lambda.invoke('withdrawn', '{"name":"first"}');
    const second = lambda.invoke('withdrawn', '{"name":"second"}', { signal: caller.signal });
    const third = lambda.invoke('withdrawn', '{"name":"third","ms":1}');
    caller.abort();
    await expect(second).rejects.toThrow('aborted');
    await Promise.all([first, third]);
    expect(lines).toEqual(['begin first', 'end first', 'begin third', 'end third']);
  });
});

describe('stop', () => {
  it('refuses running, waiting and later events, and ends every thread', async () => {
    const lambda = bench.open([bench.define('stopping', counting)], { maxWorkersPerFunction: 1 });
    const running = lambda.invoke('stopping', '{"ms":60000}');
    await until(() => lambda.workers()[0]?.busy === 1);
    const all = Promise.allSettled([
      running,
      lambda.invoke('stopping', '{}'),
      lambda.invokeStreaming('stopping', '{}'),
    ]);
    await lambda.stop();
    for (const { status, reason } of (await all) as PromiseRejectedResult[]) {
      expect(status).toBe('rejected');
      expect(reason).toMatchObject({ type: 'ServiceException', status: 500 });
    }
    await expect(lambda.invoke('stopping', '{}')).rejects.toThrow('stopped');
    expect(lambda.workers()).toEqual([{ functionName: 'stopping', count: 0, busy: 0 }]);
    await lambda.stop();
  });

  it('ends busy loops and workers that are still starting', async () => {
    const lambda = bench.open([bench.define('spinning', 'for (;;);'), bench.define('born', counting)]);
    const all = Promise.allSettled([lambda.invoke('spinning', '{}'), lambda.invoke('born', '{}')]);
    await pause(60);
    await lambda.stop();
    expect((await all).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});
