import { parseArgs } from 'node:util';
import { connect, type Target } from '../tasks/connect.ts';
import { auditTo, type Terminal } from '../tasks/terminal.ts';
import { oneLine } from '../tasks/text.ts';
import { messageOf } from '../tasks/usage-error.ts';
import { type Console, startConsole } from './server.ts';

const USAGE = `usage: mcp-task-server console --stack NAME [options]
A page with the tasks of a deployed server. It runs here, with your credentials, and only this machine can reach it.
  --region R --profile P   as of the AWS CLI
  --server ID              the construct id of the server, if its stack has more than one
  --port N                 where the page listens (default: a free one)
For a server on this machine, mcp-task-server dev prints its page.
`;

const TEXT = { type: 'string' } as const;
const OPTIONS = {
  stack: TEXT,
  region: TEXT,
  profile: TEXT,
  server: TEXT,
  port: TEXT,
  help: { type: 'boolean' },
} as const;

/** `mcp-task-server console`. Returns the exit code, or the running page. */
export async function runConsole(args: readonly string[], terminal: Terminal): Promise<number | Console> {
  let values: ReturnType<typeof read>;
  try {
    values = read(args);
  } catch (error) {
    terminal.err(`${(error as Error).message}\n${USAGE}`);
    return 2;
  }
  const { help, port, ...target } = values;
  if (help === true) {
    terminal.out(USAGE);
    return 0;
  }
  const named = Object.entries(target).map(([name, value]) => ` --${name} ${value}`);
  try {
    // An unknown server fails here, and not at the first request of the page.
    const { server } = await connectTo(target, terminal)();
    const page = await startConsole({
      connect: connectTo(target, terminal),
      local: false,
      options: named.join(''),
      ...(port !== undefined && { port: Number(port) }),
    });
    terminal.out(`The tasks of ${server.name} (${server.region}):

  ${page.url}

Keep the URL to yourself: who has it acts with your credentials, from this machine. Ctrl-C ends.
`);
    return page;
  } catch (error) {
    const inUse = (error as { code?: string }).code === 'EADDRINUSE';
    terminal.err(`${inUse ? `port ${port} is in use: choose another one with --port` : oneLine(messageOf(error))}\n`);
    return 1;
  }
}

/** Serves the page of the `dev` that runs in this process. */
export function devPage(terminal: Terminal): Promise<Console> {
  return startConsole({ connect: connectTo({ pid: process.pid }, terminal), local: true, options: '' });
}

const connectTo = (target: Target, terminal: Terminal) => () =>
  connect(target, { ...terminal, audit: auditTo(terminal) });

function read(args: readonly string[]) {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  if (values.help !== true && values.stack === undefined) throw new Error('Which stack? Give --stack NAME');
  if (values.port !== undefined && !/^\d{1,5}$/.test(values.port)) throw new Error(`${values.port} is not a port`);
  return values;
}
