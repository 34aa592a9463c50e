#!/usr/bin/env node
/** `mcp-task-server dev`: the server of the CDK app in this folder, on this machine, without an AWS account. */
import { parseArgs } from 'node:util';
import { endAfterUncaught, explain, leftAloneLine, messageOf, portOf } from '../command.ts';
import { readProject } from '../template/synth.ts';
import { readElsewhere } from './elsewhere.ts';
import { type Session, startSession } from './session.ts';
import { terminal } from './terminal.ts';

const USAGE = `usage: mcp-task-server dev [options]      in the folder of a CDK app
  --port N      where the server listens (default: PORT, or 3000; 0 for a free one)
  --data DIR    keeps tasks and sessions from one run to the next (default: for this run)
  --stack NAME  the stack whose server runs, if the app has more than one
  --strict      refuse what the embedded cloud does not know, and end if the app does not start: for CI
  --verbose     print the log lines of the server as they are
`;

function readFlags(args: readonly string[]) {
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
    const { port, data, stack, strict, verbose } = values;
    return { port: portOf(port), data, stack, strict, verbose };
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n${USAGE}`);
    return process.exit(2);
  }
}

function introduction(url: string, elsewhere: readonly string[], leftAlone: ReadonlyMap<string, number>): string {
  return `ready ${url}
${leftAloneLine(leftAlone)}${elsewhere.map((line) => `${line}\n`).join('')}
Claude Code  claude mcp add --transport http tasks ${url}
VS Code      .vscode/mcp.json: {"servers":{"tasks":{"type":"http","url":"${url}"}}}

Save a file to see its change. Ctrl-C ends.
`;
}

/** Refuses an older Node. npm only warns about it, and the error that follows would not name the cause. */
function checkNode(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 18)) return;
  throw new Error(`mcp-task-server dev needs Node 22.18 or newer, and this is ${version}`);
}

const flags = readFlags(process.argv.slice(2));
endAfterUncaught(flags.data);
/** The session of this process, once the import of this file resolves. */
export let session: Session | undefined;
const ending = new AbortController();
let starting: Promise<Session> | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    ending.abort();
    await starting?.then(
      (started) => started.stop(),
      () => undefined,
    );
    process.exit(0);
  });
}

try {
  const printer = terminal({
    verbose: flags.verbose,
    write: (text) => void process.stdout.write(text),
    now: () => new Date(),
    // `<stack>-<construct id><hash>`, and for `addToolFile` `<server>Tools<tool>Function` as construct id.
    nameOf: (name) =>
      name
        .replace(/^[^-]+-/, '')
        .replace(/[0-9A-F]{8}$/, '')
        .replace(/^\w*Tools(\w+)Function$/, '$1'),
  });
  checkNode(process.versions.node);
  const project = readProject(process.cwd());
  const { variables, said } = readElsewhere(process.env);
  process.stdout.write(`running the app: ${project.app}\n`);
  starting = startSession(project, { ...flags, variables }, printer, ending.signal);
  session = await starting;
  process.stdout.write(introduction(`${session.url}/mcp`, said, session.leftAlone));
} catch (error) {
  if (!ending.signal.aborted) {
    process.stderr.write(`${explain(error, flags.port)}\n`);
    process.exit(1);
  }
}
