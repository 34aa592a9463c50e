#!/usr/bin/env node
/** `mcp-task-server dev`: the server of the CDK app in this folder, on this machine, without an AWS account. */
import { inspect, parseArgs } from 'node:util';
import { asDiskError } from '../disk/disk.ts';
import { readProject } from './project.ts';
import { type Session, type SessionOptions, startSession } from './session.ts';
import { terminal } from './terminal.ts';

const USAGE = `usage: mcp-task-server dev [options]      in the folder of a CDK app
  --port N      where the server listens (default: PORT, or 3000; 0 for a free one)
  --data DIR    keeps tasks and sessions from one run to the next (default: for this run)
  --stack NAME  the stack whose server runs, if the app has more than one
  --strict      refuse what the embedded cloud does not know, instead of leaving it alone
  --verbose     print the log lines of the server as they are
`;

interface Flags extends SessionOptions {
  readonly verbose: boolean;
}

function readFlags(args: readonly string[]): Flags {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        port: { type: 'string', default: process.env.PORT ?? '3000' },
        data: { type: 'string' },
        stack: { type: 'string' },
        strict: { type: 'boolean', default: false },
        verbose: { type: 'boolean', default: false },
      },
    });
    if (positionals.join(' ') !== 'dev') throw new Error('the command is: mcp-task-server dev');
    if (!/^\d{1,5}$/.test(values.port) || Number(values.port) > 65_535) throw new Error(`${values.port} is not a port`);
    const { port, data, stack, strict, verbose } = values;
    return { port: Number(port), data, stack, strict, verbose, variables: otherServices(process.env) };
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${USAGE}`);
    return process.exit(2);
  }
}

/** The services that run here: their variables are those of the embedded cloud. */
const OWN = ['DYNAMODB', 'S3', 'SFN', 'LAMBDA', 'SECRETS_MANAGER'].map((service) => `AWS_ENDPOINT_URL_${service}`);

/** The variables by which an AWS client finds another emulator, or AWS itself, for one service. */
function otherServices(env: NodeJS.ProcessEnv): Record<string, string> {
  const named = Object.entries(env).filter(([name]) => name.startsWith('AWS_ENDPOINT_URL_') && !OWN.includes(name));
  return Object.fromEntries(named.map(([name, url]) => [name, url ?? '']));
}

function introduction(url: string, { variables }: Flags, leftAlone: ReadonlyMap<string, number>): string {
  const count = [...leftAlone.values()].reduce((sum, n) => sum + n, 0);
  const alone = count === 0 ? '' : `left alone: ${count} resources (${[...leftAlone.keys()].sort().join(', ')})\n`;
  const elsewhere = Object.entries(variables).map(([name, value]) => `${name}: tools reach ${value}\n`);
  return `ready ${url}
${alone}${elsewhere.join('')}
Claude Code  claude mcp add --transport http tasks ${url}
VS Code      .vscode/mcp.json: {"servers":{"tasks":{"type":"http","url":"${url}"}}}

Save a file to see its change. Ctrl-C ends.
`;
}

function explain(error: unknown, port: number): string {
  const inUse = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
  if (inUse) return `port ${port} is in use: choose another one with --port`;
  return error instanceof Error ? error.message : String(error);
}

const flags = readFlags(process.argv.slice(2));
process.once('uncaughtException', (error) => {
  process.stderr.write(`${asDiskError(error, flags.data ?? '')?.message ?? inspect(error)}\n`);
  process.exit(1);
});
/** The one of this process, once the import of this file resolves. */
export let session: Session | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await session?.stop();
    process.exit(0);
  });
}

try {
  const printer = terminal({
    verbose: flags.verbose,
    write: (text) => void process.stdout.write(text),
    now: () => new Date(),
    // `<stack>-<construct id><hash>`
    nameOf: (name) => name.replace(/^[^-]+-/, '').replace(/[0-9A-F]{8}$/, ''),
  });
  session = await startSession(readProject(process.cwd()), flags, printer);
  process.stdout.write(introduction(`${session.url}/mcp`, flags, session.leftAlone));
} catch (error) {
  process.stderr.write(`${explain(error, flags.port)}\n`);
  process.exit(1);
}
