import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { modernRequest } from '../support/clients.ts';
import { clients, type ForeignClient, type Step } from './catalog.ts';
import { judge, matrix, OK, type Seen, type Verdicts } from './judge.ts';
import { type Command, NoToolchain, prepare } from './prepare.ts';
import { type Server, startServer } from './server.ts';

const USAGE = `npm run proof -- clients [options] [folder…]

Runs clients that other people wrote against test/clients/app.ts on the embedded cloud, and prints what works.
Without folders (of test/clients): all of them. A client whose toolchain is missing is skipped, by name.

  --verbose   shows what each program prints`;
const STEP_LIMIT_MS = 90_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { help: { type: 'boolean' }, verbose: { type: 'boolean' } },
});
if (values.help) console.log(USAGE);
else process.exitCode = await main();

async function main(): Promise<number> {
  const chosen = clients.filter(({ folder }) => positionals.length === 0 || positionals.includes(folder));
  if (chosen.length === 0) throw new Error(`No client in ${positionals.join(', ')}`);
  const server = await startServer();
  try {
    const rows = [];
    for (const client of chosen) rows.push({ client, verdicts: await verdictsOf(client, server) });
    console.log(`\n${matrix(rows)}`);
    const fine = (verdicts: Verdicts | string) =>
      typeof verdicts === 'string' ? verdicts.startsWith('skipped') : Object.values(verdicts).every((v) => v === OK);
    return rows.every(({ verdicts }) => fine(verdicts)) ? 0 : 1;
  } finally {
    await server.stop();
  }
}

/** A text in place of verdicts: why nothing was run. */
async function verdictsOf(client: ForeignClient, server: Server): Promise<Verdicts | string> {
  console.log(`${client.name}, ${client.era} …`);
  let command: Command;
  try {
    command = await prepare(client);
  } catch (error) {
    if (error instanceof NoToolchain) return `skipped: ${error.message}`;
    return `not built: ${lastLine(String((error as { stderr?: string }).stderr ?? error))}`;
  }
  const verdicts: Verdicts = {};
  for (const step of client.steps)
    Object.assign(verdicts, judge(step, await see(step, client, command, server), client));
  return verdicts;
}

async function see(step: Step, client: ForeignClient, command: Command, server: Server): Promise<Seen> {
  const first = server.created.length;
  const env = { ...process.env, CREATED: server.createdFile, ...command.env, ...client.env };
  const args = [...command.args, server.url, step, ...(client.args ?? [])];
  const child = spawn(command.file, args, { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: STEP_LIMIT_MS });
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(code === 0 ? '' : `ended with ${code ?? signal}`));
  });
  const [out, errors, end] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (values.verbose) console.log(`${client.name} ${step}\n${out}${errors}`);
  const made = server.created.slice(first);
  const now = await Promise.all(made.map(({ taskId }) => modernRequest(server.url, 'tasks/get', { taskId })));
  return {
    facts: out.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : [])),
    ...(end !== '' && { failed: `${end}, ${lastLine(errors)}` }),
    created: made.map(({ tool }, index) => ({ tool, status: now[index]?.body.result.status })),
  };
}

function lastLine(printed: string): string {
  return printed.trim().split('\n').at(-1)?.slice(0, 300) ?? '';
}
