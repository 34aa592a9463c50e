#!/usr/bin/env node
/** The command of the package: `dev` runs the server here, `tasks` and `console` work on its tasks, `put-back` restores. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { devPage, runConsole } from './console/index.ts';
import { putBackCommand } from './put-back.ts';
import { runTasks } from './tasks/index.ts';
import type { Terminal } from './tasks/terminal.ts';

const USAGE = `usage: mcp-task-server dev [options]      the server of the CDK app in this folder, on this machine
       mcp-task-server tasks VERB …      lists, explains, answers and ends tasks: mcp-task-server tasks help
       mcp-task-server console --stack NAME   the same on a page, for a deployed server
       mcp-task-server put-back FROM TO  copies lost tasks from a restored table into the server's table
`;

const [command, ...args] = process.argv.slice(2);
const terminal: Terminal = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  folder: process.cwd(),
};
// There is no top-level await: the package also exists as CommonJS.
void main();

async function main(): Promise<void> {
  if (command === 'dev') return dev();
  if (command === 'tasks') {
    process.once('SIGINT', () => process.exit(0));
    process.exitCode = await runTasks(args, terminal);
    return;
  }
  if (command === 'console') {
    const page = await runConsole(args, terminal);
    if (typeof page === 'number') process.exitCode = page;
    return;
  }
  if (command === 'put-back') {
    process.exitCode = await putBackCommand(args);
    return;
  }
  const asked = command === undefined || command === 'help' || command === '--help';
  (asked ? process.stdout : process.stderr).write(asked ? USAGE : `there is no command '${command}'\n${USAGE}`);
  process.exitCode = asked ? 0 : 2;
}

/** Runs `dev`, which is in another package: the user's project has it as a development dependency. */
async function dev(): Promise<void> {
  const project = createRequire(join(process.cwd(), 'package.json'));
  let file: string;
  try {
    file = project.resolve('mcp-task-server-local/dev');
  } catch {
    process.stderr.write('dev is in another package: npm install --save-dev mcp-task-server-local\n');
    process.exitCode = 1;
    return;
  }
  const { session }: DevModule = await import(pathToFileURL(file).href);
  if (session?.redirects === undefined) return;
  const { url } = await devPage(terminal);
  session.redirects.set('/_tasks', url);
  process.stdout.write(`Tasks        ${session.url}/_tasks\n`);
}

/** The parts of the module that this command uses. The package may be from another release. */
interface DevModule {
  readonly session?: { readonly url: string; readonly redirects?: Map<string, string> };
}
