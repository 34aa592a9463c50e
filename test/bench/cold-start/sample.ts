import { createRequire } from 'node:module';
import { performance } from 'node:perf_hooks';
import { type Handler, posted, streaming } from '../endpoint/endpoint.ts';
import type { Step, Times } from './rows.ts';

/**
 * `node sample.cjs INDEX POLL`: one cold start. Loads a function, asks it what the first clients ask, and prints the times of
 * each step. POLL is `tasks/get`, or the name of the tool that polls.
 */
const [index = '', pollBy = ''] = process.argv.slice(2);
const steps: Partial<Record<Step, Times>> = {};
const write = process.stdout.write.bind(process.stdout);
// Lines of a function's own log.
process.stdout.write = () => true;
Object.assign(globalThis, { awslambda: streaming });
const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
};

async function timed<T>(step: Step, work: () => T): Promise<Awaited<T>> {
  const [since, before] = [performance.now(), process.threadCpuUsage()];
  const result = await work();
  const { user, system } = process.threadCpuUsage(before);
  steps[step] = { wall: performance.now() - since, cpu: (user + system) / 1_000 };
  return result;
}

async function sample(): Promise<void> {
  const { handler } = await timed('load', () => createRequire(index)(index) as { handler: Handler });
  const ask = async (step: Step, method: string, params: Readonly<Record<string, unknown>>) => {
    const name = params.name ?? params.taskId;
    const headers = {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } });
    const { text } = await timed(step, () => posted(handler, body, headers));
    const { result } = JSON.parse(text);
    if (result === undefined || result.isError === true) throw new Error(`${method} was answered with ${text}`);
    return result.structuredContent ?? result;
  };
  await ask('first discover', 'server/discover', {});
  const { taskId } = await ask('first create', 'tools/call', { name: 't', arguments: {} });
  if (pollBy === 'tasks/get') await ask('first poll', pollBy, { taskId });
  else await ask('first poll', 'tools/call', { name: pollBy, arguments: { taskId } });
}

sample().then(
  () => {
    write(JSON.stringify(steps));
    // Connections that are kept would hold the process.
    process.exit(0);
  },
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
