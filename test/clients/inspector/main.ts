/**
 * Inspector's command line of named connections (mcpdo), in the given era. A call shows neither progress nor the id of its
 * task: a second connection gets the id and reads the task.
 */
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const [url = '', step, era = 'legacy'] = process.argv.slice(2);
const say = (fact: object) => console.log(JSON.stringify(fact));
const env = { ...process.env };

const mcpdo = (...args: string[]) =>
  execFileSync(process.execPath, [env.MCPDO ?? '', '--format', 'json', ...args], {
    env,
    encoding: 'utf8',
    maxBuffer: 1e8,
  });
const connect = (name: string) => mcpdo('connect', url, '--connection', name, '--era', era);
const task = era === 'legacy' ? ['--task'] : [];

const created = () =>
  readFileSync(env.CREATED ?? '', 'utf8')
    .trim()
    .split('\n')
    .at(-1) ?? '';

const read = (taskId: string) => JSON.parse(mcpdo('--connection', 'two', 'tasks/get', taskId)).task;

// A daemon that nothing else talks to: its folder and its token.
const exports = execFileSync(process.execPath, [env.MCPDO ?? '', 'private'], { env, encoding: 'utf8' });
for (const [, name = '', value] of exports.matchAll(/^export (\w+)='(.*)'$/gm)) env[name] = value;

try {
  connect('one');
  if (step === 'run') await run();
  if (step === 'question') finish(mcpdo('--connection', 'one', 'tools/call', 'split', ...task));
  if (step === 'cancel') await cancel();
  if (step === 'file') file();
} finally {
  mcpdo('daemon', 'stop');
}

function finish(printed: string): void {
  const { elicitationPending: asked, content } = JSON.parse(printed);
  if (asked === undefined) {
    say({ result: content[0].text });
    return;
  }
  say({ question: asked.message });
  const fields = Object.keys(asked.requestedSchema.properties).map((name) => `${name}:=4`);
  finish(mcpdo('elicitation/respond', asked.elicitationId, ...fields));
}

/** Calls a tool that stores a file, and reads it by the link of the result. */
function file(): void {
  const printed = mcpdo('--connection', 'one', 'tools/call', 'render_film', 'title:=Rain', 'megabytes:=1', ...task);
  const { uri } = JSON.parse(printed).content[1];
  const { contents } = JSON.parse(mcpdo('--connection', 'one', 'resources/read', uri));
  say({ file: uri, read: Buffer.from(contents[0].blob, 'base64').length });
}

/** Runs beside the caller, as a connection does one thing at a time. The id comes from the server's log. */
async function callBeside(...tool: string[]): Promise<{ taskId: string; printed: Promise<string> }> {
  const before = created();
  const args = ['--format', 'json', '--connection', 'one', 'tools/call', ...tool, ...task];
  const printed = new Promise<string>((resolve) => {
    execFile(process.execPath, [env.MCPDO ?? '', ...args], { env }, (_error, out, errors) => resolve(out + errors));
  });
  while (created() === before) await sleep(100);
  return { taskId: created(), printed };
}

async function run(): Promise<void> {
  connect('two');
  const { taskId, printed } = await callBeside('count', 'to:=4');
  for (let seen = read(taskId); seen.status === 'working'; seen = read(taskId)) say({ progress: seen.statusMessage });
  finish(await printed);
}

async function cancel(): Promise<void> {
  connect('two');
  const { taskId, printed } = await callBeside('wait');
  mcpdo('--connection', 'two', 'tasks/cancel', taskId);
  say({ task: taskId, status: read(taskId).status });
  say({ seen: await printed });
}
