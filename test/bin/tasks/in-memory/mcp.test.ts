import { readFileSync } from 'node:fs';
import { Duplex, PassThrough } from 'node:stream';
import { Client, deserializeMessage, serializeMessage, type Transport } from '@modelcontextprotocol/client';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { runTasks } from '../../../../bin/tasks/index.ts';
import { toolsFor } from '../../../../bin/tasks/mcp/tools.ts';
import type { OperatorContext } from '../../../../functions/operator/context.ts';
import { arnOf, KEY, operatorOn, task } from '../../../functions/operator/operators.ts';

// Test files share a process: what this one replaces may be loaded before, and is loaded again after.
vi.hoisted(() => vi.resetModules());
const connected = vi.hoisted(() => ({ context: undefined as unknown, targets: [] as unknown[] }));
vi.mock('../../../../bin/tasks/connect.ts', () => ({
  connect: async (target: unknown, { audit }: Pick<OperatorContext, 'audit'>) => {
    connected.targets.push(target);
    if (connected.context instanceof Error) throw connected.context;
    return { ...(connected.context as OperatorContext), audit };
  },
}));
afterEach(() => {
  vi.restoreAllMocks();
  vi.doUnmock('@modelcontextprotocol/server');
  connected.targets.splice(0);
});
afterAll(() => {
  vi.doUnmock('../../../../bin/tasks/connect.ts');
  vi.resetModules();
});

const ID = { taskId: KEY.taskId, owner: KEY.owner };
const ACT = { ...ID, reason: 'INC-7' };

/** `mcp-task-server tasks mcp` with these options, on a server in memory, and the official client. */
async function serving({ context }: { readonly context: OperatorContext }, ...options: readonly string[]) {
  connected.context = context;
  // A terminal's stdin is open for writes after its end.
  const stdin = new Duplex({ read: () => {} });
  const stdout = new PassThrough({ encoding: 'utf8' });
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(stdin as never);
  vi.spyOn(process, 'stdout', 'get').mockReturnValue(stdout as never);
  const err: string[] = [];
  const terminal = { out: (text: string) => void err.push(`out: ${text}`), err: (text: string) => void err.push(text) };
  const code = runTasks(['mcp', ...options], { ...terminal, folder: '/' });
  const transport: Transport = {
    start: async () => {
      stdout.on('data', (line: string) => transport.onmessage?.(deserializeMessage(line)));
    },
    send: async (message) => void stdin.push(serializeMessage(message)),
    close: async () => {},
  };
  const client = new Client({ name: 'test', version: '1' });
  const ended = code.then((it) => Promise.reject(new Error(`It ended with ${it}: ${err.join('')}`)));
  await Promise.race([client.connect(transport), ended]);
  const call = (name: string, input: Record<string, unknown> = {}) => client.callTool({ name, arguments: input });
  const end = () => {
    stdin.push(null);
    return code;
  };
  return { client, call, end, err, type: (text: string) => stdin.push(text) };
}

describe('mcp', () => {
  test('serves until stdin ends, and says on stderr with which rights', async () => {
    for (const [options, rights] of [
      [[], 'read-only'],
      [['--allow-writes'], 'with writes'],
    ] as const) {
      const { end, err } = await serving(operatorOn(), ...options);
      expect(await end()).toBe(0);
      expect(err).toEqual([`serves MCP on stdin and stdout, ${rights}\n`]);
    }
  });

  test('names itself, with the version of its package', async () => {
    const { client } = await serving(operatorOn());
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(client.getServerVersion()).toEqual({ name: 'mcp-task-server-tasks', version });
  });

  /** A change that is meant is written to the file by `npm test -- test/bin/tasks/in-memory --update`. */
  test('tells a model what instructions.txt says, for the rights that it has', async () => {
    const told = async (...options: string[]) => {
      const { client } = await serving(operatorOn(), ...options);
      return `# with ${options.join(' ') || 'no option'}\n${client.getInstructions()}\n`;
    };
    const all = [await told(), await told('--payload'), await told('--allow-writes', '--payload')];
    await expect(all.join('\n')).toMatchFileSnapshot('instructions.txt');
  });

  test('offers the tools of its rights; a client knows which ones only read', async () => {
    for (const [options, allowed] of [
      [[], { writes: false, payload: false }],
      [['--payload'], { writes: false, payload: true }],
      [['--allow-writes'], { writes: true, payload: false }],
    ] as const) {
      const { client } = await serving(operatorOn(), ...options);
      const { tools } = await client.listTools();
      const offered = tools.map(({ name, title, description, inputSchema, annotations }) => {
        const { type, properties, required, additionalProperties } = inputSchema;
        return {
          name,
          title,
          description,
          inputSchema: { type, properties, required, additionalProperties },
          annotations,
        };
      });
      expect(offered).toEqual(
        toolsFor(allowed).map(({ run: _, writes, ...tool }) => ({
          ...tool,
          annotations: writes ? { readOnlyHint: false, destructiveHint: true } : { readOnlyHint: true },
        })),
      );
    }
  });

  test('answers with a sentence and the data, on the server that its options name', async () => {
    const { call } = await serving(operatorOn([task()]), '--stack', 'Shop', '--region', 'eu-west-1');
    const { content, structuredContent, isError } = await call('show_task', ID);
    expect(isError).toBeUndefined();
    expect(structuredContent).toMatchObject({ taskId: KEY.taskId, status: 'working' });
    expect(content).toEqual([
      { type: 'text', text: `Task ${KEY.taskId} is working, in round 1.` },
      { type: 'text', text: JSON.stringify(structuredContent) },
    ]);
    await call('list_tasks');
    expect(connected.targets).toEqual([
      { stack: 'Shop', region: 'eu-west-1' },
      { stack: 'Shop', region: 'eu-west-1' },
    ]);
  });

  test('an act that is not done is an error of its tool; the audit lines say that it came by MCP', async () => {
    const server = operatorOn([task()]);
    server.executions.put(arnOf());
    const { call, err } = await serving(server, '--allow-writes');
    expect(await call('cancel_task', ACT)).toEqual({
      content: [{ type: 'text', text: 'Cancelled. Its run is stopped' }, expect.anything()],
      structuredContent: { taskId: KEY.taskId, done: true, message: 'Cancelled. Its run is stopped' },
    });
    const again = await call('cancel_task', ACT);
    expect(again).toMatchObject({ isError: true, structuredContent: { done: false } });
    const audited = err.slice(1).map((line) => JSON.parse(line));
    expect(audited).toMatchObject([
      { action: 'operator_cancel', who: 'ann', reason: 'INC-7', via: 'mcp', done: true },
      { action: 'operator_cancel', via: 'mcp', done: false },
    ]);
  });

  test('an error of a verb is one line of its tool, and the next call works', async () => {
    const server = operatorOn([task()]);
    const { call } = await serving(server);
    connected.context = new Error('no\nnetwork');
    expect(await call('show_task', ID)).toEqual({ content: [{ type: 'text', text: 'no network' }], isError: true });
    connected.context = server.context;
    expect(await call('show_task', ID)).toMatchObject({ structuredContent: { round: 1 } });
  });

  test('a line that is not of the protocol is an error on stderr, and the next call works', async () => {
    const { call, err, type } = await serving(operatorOn());
    type('{"a":1}\n');
    expect(await call('list_tasks')).toMatchObject({ structuredContent: { tasks: [] } });
    expect(err.slice(1)).toEqual([expect.stringMatching(/^[^\n]+\n$/)]);
  });

  test('takes options only', async () => {
    const err: string[] = [];
    const terminal = { out: () => {}, err: (text: string) => void err.push(text), folder: '/' };
    expect(await runTasks(['mcp', 'x', 'y'], terminal)).toBe(2);
    expect(err[0]).toBe("mcp takes options only, not 'x'\n");
  });

  test.each([
    ['ERR_MODULE_NOT_FOUND', 'tasks mcp needs one more package: npm install --save-dev @modelcontextprotocol/server\n'],
    ['MODULE_NOT_FOUND', 'tasks mcp needs one more package: npm install --save-dev @modelcontextprotocol/server\n'],
    ['ERR_OTHER', 'broken\n'],
    [undefined, 'broken\n'],
  ])('without its package says what to install; another error stays: %s', async (code, message) => {
    vi.doMock('@modelcontextprotocol/server', () => ({
      get McpServer() {
        throw Object.assign(new Error('broken'), code !== undefined && { code });
      },
    }));
    const err: string[] = [];
    const terminal = { out: () => {}, err: (text: string) => void err.push(text), folder: '/' };
    expect(await runTasks(['mcp'], terminal)).toBe(1);
    expect(err).toEqual([message]);
  });
});
