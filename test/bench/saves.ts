/**
 * `npm run bench:saves`: saves a tool twenty times under `mcp-task-server dev`, and prints how long it takes until a
 * client sees the new behaviour. Meanwhile one task works and another waits for an answer: both must still be there.
 */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startSession } from '../../local/dev/session.ts';
import { terminal } from '../../local/dev/terminal.ts';
import { readProject } from '../../local/testing.ts';
import { modernRequest } from '../support/clients.ts';

const SAVES = 20;
const ROOT = resolve(import.meta.dirname, '../..');
const APP = `
import { App, Stack } from 'aws-cdk-lib';
import { anonymous, McpTaskServer, ToolFunction } from '${ROOT}/lib/index.ts';
const stack = new Stack(new App(), 'Saves');
const server = new McpTaskServer(stack, 'Server', { auth: anonymous(), serverInfo: { name: 's', version: '1' } });
const any = { inputSchema: { type: 'object' }, description: 'd' };
const tool = (name) => new ToolFunction(stack, name, { entry: name + '.ts' });
server.addTool('saved', { ...any, handler: tool('saved') });
server.addTool('works', { ...any, handler: tool('works'), taskSupport: 'required' });
`;
const tool = (text: string) => `
import { defineTool } from '${ROOT}/functions/tool/index.ts';
export const handler = defineTool({ description: 'd', inputSchema: { type: 'object' } }, async (_args, task) => ${text});
`;
const QUESTION = `{ a: { method: 'elicitation/create', params: { message: 'm', requestedSchema: { type: 'object', properties: {} } } } }`;

const folder = mkdtempSync(join(tmpdir(), 'mcp-saves-'));
const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
write('package.json', '{"type":"module"}');
write('cdk.json', JSON.stringify({ app: `"${process.execPath}" app.ts` }));
write('app.ts', APP);
write('saved.ts', tool("'save 0'"));
write(
  'works.ts',
  `export const handler = async ({ inputResponses }) => inputResponses.a ? 'answered' : { inputRequests: ${QUESTION} };`,
);

const printer = terminal({ verbose: false, write: () => {}, now: () => new Date(), nameOf: (name) => name });
const options = { port: 0, data: undefined, stack: undefined, strict: false, variables: {} };
const session = await startSession(readProject(folder), options, printer);
const url = `${session.url}/mcp`;
const capabilities = { elicitation: { form: {} }, extensions: { 'io.modelcontextprotocol/tasks': {} } };
const call = async (name: string) => {
  const { body } = await modernRequest(url, 'tools/call', { name, arguments: {} }, { capabilities });
  return body.result;
};
const status = async (taskId: string) => (await modernRequest(url, 'tasks/get', { taskId })).body.result.status;

try {
  const { taskId } = await call('works');
  const times: number[] = [];
  for (let save = 1; save <= SAVES; save++) {
    const begun = performance.now();
    write('saved.ts', tool(`'save ${save}'`));
    while ((await call('saved')).content[0].text !== `save ${save}`) await sleep(10);
    times.push(performance.now() - begun);
    await sleep(200);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => Math.round(times[Math.ceil(share * SAVES) - 1] ?? 0);
  await session.idle();
  const waiting = await status(taskId);
  await modernRequest(url, 'tasks/update', { taskId, inputResponses: { 'r1.a': { action: 'accept', content: {} } } });
  await sleep(2_000);
  const ended = await status(taskId);
  process.stdout.write(
    `${SAVES} saves, until a client sees the new behaviour: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms\n`,
  );
  process.stdout.write(`a task that waited for its answer: ${waiting}, then ${ended}\n`);
  process.exitCode = waiting === 'input_required' && ended === 'completed' ? 0 : 1;
} finally {
  await session.stop();
  rmSync(folder, { recursive: true, force: true });
}
