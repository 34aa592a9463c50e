/** Inspector's command line of named connections (mcpdo), in the era it is given. It shows neither progress nor task ids. */
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const [url = '', step, era = 'legacy'] = process.argv.slice(2);
const say = (fact: object) => console.log(JSON.stringify(fact));
const env = { ...process.env };

const mcpdo = (...args: string[]) =>
  execFileSync(process.execPath, [env.MCPDO ?? '', '--format', 'json', ...args], { env, encoding: 'utf8' });
const connect = (name: string) => mcpdo('connect', url, '--connection', name, '--era', era);
const task = era === 'legacy' ? ['--task'] : [];

// A daemon that nothing else talks to: its folder and its token.
const exports = execFileSync(process.execPath, [env.MCPDO ?? '', 'private'], { env, encoding: 'utf8' });
for (const [, name = '', value] of exports.matchAll(/^export (\w+)='(.*)'$/gm)) env[name] = value;

try {
  connect('one');
  if (step === 'run') finish(mcpdo('--connection', 'one', 'tools/call', 'count', 'to:=4', ...task));
  if (step === 'question') finish(mcpdo('--connection', 'one', 'tools/call', 'split', ...task));
  if (step === 'cancel') await cancel();
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

/** A connection does one thing at a time, so another one cancels. The id of the task comes from the server's log. */
async function cancel(): Promise<void> {
  const created = () =>
    readFileSync(env.CREATED ?? '', 'utf8')
      .trim()
      .split('\n')
      .at(-1) ?? '';
  const before = created();
  const args = ['--format', 'json', '--connection', 'one', 'tools/call', 'wait', ...task];
  const call = new Promise<string>((resolve) => {
    execFile(process.execPath, [env.MCPDO ?? '', ...args], { env }, (_error, out, errors) => resolve(out + errors));
  });
  while (created() === before) await sleep(100);
  connect('two');
  mcpdo('--connection', 'two', 'tasks/cancel', created());
  say({ task: created(), status: JSON.parse(mcpdo('--connection', 'two', 'tasks/get', created())).task.status });
  say({ seen: await call });
}
