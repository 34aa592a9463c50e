import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { runTasks } from '../../../../bin/tasks/index.ts';
import type { OperatorContext } from '../../../../functions/operator/context.ts';
import { denied, KEY, MINUTE, operatorOn, T0, task } from '../../../functions/operator/operators.ts';

// Test files share a process: what this one replaces may be loaded before, and is loaded again after.
vi.hoisted(() => vi.resetModules());
const connected = vi.hoisted(() => ({ context: undefined as unknown, targets: [] as unknown[] }));
vi.mock('../../../../bin/tasks/connect.ts', () => ({
  connect: async (target: unknown, { audit }: Pick<OperatorContext, 'audit'>) => {
    connected.targets.push(target);
    return { ...(connected.context as OperatorContext), audit };
  },
}));
beforeEach(() => void connected.targets.splice(0));
afterAll(() => {
  vi.doUnmock('../../../../bin/tasks/connect.ts');
  vi.resetModules();
});

const OWNER = ['--owner', KEY.owner];
const id = (n: number) => `01m81rnzam${String(n).padStart(26, '0')}`;

/** `mcp-task-server tasks` on a server in memory. */
async function run(server: ReturnType<typeof operatorOn>, args: readonly string[], signal?: AbortSignal) {
  connected.context = server.context;
  const [out, err]: [string[], string[]] = [[], []];
  const terminal = { out: (text: string) => void out.push(text), err: (text: string) => void err.push(text) };
  const code = await runTasks(args, { ...terminal, folder: '/', ...(signal && { signal }) });
  return { code, printed: out, out: out.join(''), err: err.join('') };
}

describe('the command', () => {
  test.each([[[]], [['help']], [['list', '--help']]])('says how it is used: %j', async (args) => {
    const { code, out } = await run(operatorOn(), args);
    expect([code, out.startsWith('usage: mcp-task-server tasks VERB')]).toEqual([0, true]);
    expect(connected.targets).toEqual([]);
  });

  test('passes on the server that is meant, and tells a wrong option from what is not done', async () => {
    const server = operatorOn();
    expect(await run(server, ['list', '--nope'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('help says more'),
    });
    expect(connected.targets).toEqual([]);
    const missing = await run(server, ['show', KEY.taskId, '--stack', 's', '--region', 'r']);
    expect(missing).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^No task '[^\n]*\n$/) });
    expect(connected.targets).toEqual([{ stack: 's', region: 'r' }]);
  });

  test.each(['show', 'explain'])('%s takes one id', async (verb) => {
    for (const words of [[], ['a', 'b']]) {
      const { code, err } = await run(operatorOn(), [verb, ...words]);
      expect([code, err.split('\n')[0]]).toEqual([2, `${verb} takes the id of one task`]);
    }
  });

  test('each verb prints what it reads, as text or as JSON', async () => {
    const server = operatorOn([task()]);
    expect((await run(server, ['list'])).out).toContain(KEY.taskId);
    expect(JSON.parse((await run(server, ['list', '--json'])).out)).toMatchObject({ tasks: [{ taskId: KEY.taskId }] });
    expect((await run(server, ['show', KEY.taskId, ...OWNER])).out).toContain(`Task ${KEY.taskId}\n`);
    expect(JSON.parse((await run(server, ['show', KEY.taskId, ...OWNER, '--json'])).out)).toMatchObject({ round: 1 });
    expect((await run(server, ['explain', KEY.taskId, ...OWNER])).out).toContain('is working: lost start.\n');
    expect(JSON.parse((await run(server, ['explain', KEY.taskId, ...OWNER, '--json'])).out)).toMatchObject({
      row: '4',
    });
    expect((await run(server, ['logs', KEY.taskId, ...OWNER])).out).toContain('No line.');
    expect((await run(server, ['subscriptions', KEY.taskId])).out).toBe(`${KEY.owner} has none\n`);
    expect((await run(server, ['unsubscribe', 'sub_1', ...OWNER])).err).toContain("no live subscription 'sub_1'");
    expect((await run(server, ['cancel', KEY.taskId, ...OWNER])).out).toContain('Cancelled');
  });

  test('an act leaves its audit line on stderr', async () => {
    const { err } = await run(operatorOn([task()]), ['cancel', KEY.taskId, ...OWNER, '--reason', 'INC-7']);
    expect(JSON.parse(err)).toMatchObject({ event: 'audit', action: 'operator_cancel', who: 'ann', reason: 'INC-7' });
  });

  test('what is hidden without --payload is shown with it', async () => {
    const server = operatorOn([task({ kept: '{"secret":1}' })], { logGroup: '/tool' });
    for (const [flags, there] of [
      [[], false],
      [['--payload'], true],
    ] as const) {
      const { out } = await run(server, ['show', KEY.taskId, ...OWNER, ...flags]);
      expect(out.includes('secret')).toBe(there);
      const logs = await run(server, ['logs', KEY.taskId, ...OWNER, ...flags]);
      expect(logs.out.includes('Not shown')).toBe(!there);
    }
  });

  test('explain needs the right to payload only with --payload', async () => {
    const { context } = operatorOn([task()]);
    const get: typeof context.reads.get = (key, payload) =>
      payload ? Promise.reject(denied()) : context.reads.get(key, false);
    const server = { ...operatorOn(), context: { ...context, reads: { ...context.reads, get } } };
    expect(await run(server, ['explain', KEY.taskId, ...OWNER])).toMatchObject({ code: 0 });
    expect(await run(server, ['explain', KEY.taskId, ...OWNER, '--payload'])).toMatchObject({
      ...{ code: 1, err: expect.stringContaining(`The payload of task ${KEY.taskId}`) },
    });
  });

  test('JSON holds no control character, and text neither', async () => {
    const server = operatorOn([task({ tool: 'a\u001b[2J\u202eb' })]);
    expect((await run(server, ['list'])).out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    const { out } = await run(server, ['list', '--json']);
    expect(out.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(JSON.parse(out).tasks[0].tool).toBe('a\u001b[2J\u202eb');
  });
});

describe('--watch', () => {
  test('shows a task each two seconds as long as it changes, until it has ended', async () => {
    const server = operatorOn([task()]);
    let looks = 0;
    const sleep = async (ms: number) => {
      server.slept.push(ms);
      looks++;
      if (looks === 2) server.records.set(task({ round: 2 }));
      if (looks === 4) server.records.set(task({ status: 'completed' }));
    };
    const watching = { ...server, context: { ...server.context, sleep } };
    const { code, printed } = await run(watching, ['show', KEY.taskId, ...OWNER, '--watch', '--json']);
    expect(code).toBe(0);
    expect(printed.map((text) => JSON.parse(text)).map(({ status, round }) => [status, round])).toEqual([
      ['working', 1],
      ['working', 2],
      ['completed', 1],
    ]);
    expect(server.slept).toEqual([2_000, 2_000, 2_000, 2_000]);
  });

  test('of a list or of logs ends with Ctrl-C only, and reads no more after it', async () => {
    for (const args of [['list'], ['logs', '--part', 'endpoint']]) {
      const server = operatorOn([task({ status: 'completed' })]);
      const stop = new AbortController();
      const sleep = async () => {
        if (server.slept.push(1) === 3) stop.abort();
      };
      const logGroups = { endpoint: '/e' };
      const context = { ...server.context, sleep, server: { ...server.context.server, logGroups } };
      expect((await run({ ...server, context }, [...args, '--watch'], stop.signal)).code).toBe(0);
      expect(server.slept).toHaveLength(3);
    }
  });

  test('shows nothing that was changed after Ctrl-C', async () => {
    const server = operatorOn([task()]);
    const stop = new AbortController();
    const sleep = async () => {
      server.records.set(task({ round: 2 }));
      stop.abort();
    };
    const watching = { ...server, context: { ...server.context, sleep } };
    const { printed } = await run(watching, ['show', KEY.taskId, ...OWNER, '--watch'], stop.signal);
    expect(printed).toHaveLength(1);
  });

  test('of a task of another release shows it once', async () => {
    const server = operatorOn([task({ version: 99 })]);
    const { code, printed } = await run(server, ['show', KEY.taskId, ...OWNER, '--watch']);
    expect([code, printed.length, server.slept]).toEqual([0, 1, []]);
  });

  test('that was ended before its first look shows that look', async () => {
    const server = operatorOn([task()]);
    const { printed } = await run(server, ['list', '--watch'], AbortSignal.abort());
    expect([printed.length, server.slept]).toEqual([1, []]);
  });

  test('without it one look is shown', async () => {
    const server = operatorOn([task()]);
    expect((await run(server, ['list'])).printed).toHaveLength(1);
    expect(server.slept).toEqual([]);
  });
});

describe('a list', () => {
  test('passes over 19 empty pages, and shows that there are more after the twentieth', async () => {
    const pages = async (empty: number) => {
      const server = operatorOn();
      let read = 0;
      const inStatus = async (status: string) => {
        if (status !== 'working') return { tasks: [] };
        return read++ < empty ? { tasks: [], next: { createdUntil: T0 - read } } : { tasks: [task()] };
      };
      const reads = { ...server.context.reads, inStatus, getMany: async () => [task()] } as never;
      const { out } = await run({ ...server, context: { ...server.context, reads } }, ['list', '--tool', 'x']);
      return { read, out };
    };
    expect(await pages(19)).toMatchObject({ read: 20, out: expect.stringContaining(KEY.taskId) });
    expect(await pages(20)).toMatchObject({ read: 20, out: expect.stringMatching(/^There are more: --cursor/) });
  });

  test('without a task is read once', async () => {
    const server = operatorOn();
    const { reads } = server.context;
    let read = 0;
    const inStatus: typeof reads.inStatus = (...given) => {
      read++;
      return reads.inStatus(...given);
    };
    const context = { ...server.context, reads: { ...reads, inStatus } };
    expect((await run({ ...server, context }, ['list', '--status', 'failed'])).out).toBe('No task.\n');
    expect(read).toBe(1);
  });

  test('as JSON holds what is stored of a task of another release', async () => {
    const { out } = await run(operatorOn([task({ version: 99 })]), ['list', '--json']);
    expect(JSON.parse(out).tasks).toMatchObject([{ taskId: KEY.taskId, tool: 'tool', version: 99 }]);
  });

  test('says of each task what is worth knowing', async () => {
    const error = JSON.stringify({ code: 1, message: 'm', data: { reason: 'TypeError' } });
    const server = operatorOn([
      task({ taskId: id(1), createdAt: T0 - 1 }),
      task({ taskId: id(2), createdAt: T0 - 2, status: 'failed', error }),
      task({ taskId: id(3), createdAt: T0 - 3, status: 'failed', error: JSON.stringify({ code: 1, message: 'm' }) }),
      task({ taskId: id(4), createdAt: T0 - 4, status: 'completed', isError: true }),
      task({ taskId: id(5), createdAt: T0 - 5, deadlineAt: T0 }),
      task({ taskId: id(6), createdAt: T0 - 120 * MINUTE }),
      task({ taskId: id(7), createdAt: T0 - 7, version: 99 }),
    ]);
    const { out } = await run(server, ['list', '--status', 'all']);
    expect(out.replaceAll('01m81rnzam0000000000000000000000000', '')).toBe(
      [
        'TASK                                  TOOL  STATUS     AGE      ENDS IN   ROUND  NOTE',
        '1  tool  working    1 m      9 m 30 s  1',
        '2  tool  failed     1 m                1      TypeError',
        '3  tool  failed     1 m                1      m',
        '4  tool  completed  1 m                1      the tool returned an error',
        '5  tool  working    1 m      30 s ago  1      readers see failed',
        '7  tool  working    1 m                       of another release',
        '6  tool  working    2 h 1 m  9 m 30 s  1      past its ttl',
        '',
      ].join('\n'),
    );
  });
});

describe('logs', () => {
  const parts = (server = operatorOn([task()])) => ({
    ...server,
    context: { ...server.context, server: { ...server.context.server, logGroups: { endpoint: '/e', events: '/v' } } },
  });

  test.each([
    [[], 'logs takes the id of one task, or --part'],
    [[KEY.taskId, '--part', 'endpoint'], 'logs takes the id of one task, or --part'],
    [['--part', 'endpoint', '--owner', KEY.owner], '--part reads lines of all owners: give no --owner with it'],
    [['--part', 'nope'], "--part is one of endpoint, events, not 'nope'"],
    [['a', 'b'], 'logs takes the id of one task'],
    [['--part', 'endpoint', '--since', 'x'], '--since is a time'],
  ])('%j are refused', async (args, message) => {
    expect(await run(parts(), ['logs', ...args])).toMatchObject({ code: 2, err: expect.stringContaining(message) });
  });

  test('of a part go back 15 minutes, or --since', async () => {
    const froms: unknown[] = [];
    const NOW = Date.UTC(2026, 0);
    const server = parts();
    const logs = {
      send: async ({ input }: { input: { startTime: number } }) => {
        froms.push(input.startTime - NOW);
        return {};
      },
    } as never;
    const reading = { ...server, context: { ...server.context, logs, now: () => NOW } };
    await run(reading, ['logs', '--part', 'endpoint']);
    await run(reading, ['logs', '--part', 'endpoint', '--since', '1h']);
    expect(froms).toEqual([-15 * MINUTE, -60 * MINUTE]);
  });
});
