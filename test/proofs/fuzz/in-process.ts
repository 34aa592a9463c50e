import { setImmediate } from 'node:timers/promises';
import type { Tool } from '../../../functions/mcp/context.ts';
import { endpoint } from '../../../functions/mcp/endpoint.ts';
import { trimmed } from '../../../functions/mcp/http/http.ts';
import type { ToolEntry } from '../../../functions/mcp/manifest.ts';
import { fakeServer, manifest } from '../../functions/mcp/support/fake-server.ts';
import { finish } from './finish.ts';
import type { WireRequest } from './generate/mutate.ts';
import type { Calls } from './generate/requests.ts';
import { joined, type WireAnswer } from './judge/judge.ts';

const base = { description: 'd', inputSchema: { type: 'object' }, timeout: 60_000 } as const;
const capable = (name: string, more: Partial<ToolEntry> = {}): ToolEntry => ({
  ...base,
  name,
  taskSupport: 'optional',
  engine: 'standard',
  ...more,
});
const question = { method: 'elicitation/create', params: { message: 'Who?', requestedSchema: form() } };

/** Every kind of tool. Each returns, byte for byte, the JSON text in its argument `json`. */
const tools: readonly ToolEntry[] = [
  { ...base, name: 'direct', taskSupport: 'forbidden' },
  {
    ...base,
    name: 'marked',
    taskSupport: 'forbidden',
    headers: [{ header: 'Region', path: ['region'], type: 'string' }],
  },
  { ...base, name: 'picky', taskSupport: 'forbidden' },
  capable('optional'),
  capable('required', { taskSupport: 'required' }),
  capable('promising', { outputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } }),
  capable('asks_first', { taskSupport: 'required', askFirst: { who: question } }),
];

export const calls: Calls = (random) => {
  const name = random.pick(tools).name;
  const json = random.pick(['{"n":1}', '"text"', 'null', JSON.stringify({ inputRequests: { confirm: question } })]);
  return { name, ...(random.chance(0.8) && { arguments: { json } }) };
};

/** The endpoint without a cloud: tools answer at once, and time passes only while the server sleeps. */
export function inProcess() {
  let now = 1_700_000_000_000;
  const entries = tools.map((entry): [string, Tool] => [
    entry.name,
    {
      entry,
      validate: entry.name === 'picky' ? Object.assign(() => false, { errors: [] }) : () => true,
      validateOutput: entry.outputSchema && ((value) => typeof value === 'object' && value !== null && 'n' in value),
    },
  ]);
  const { server, did, records } = fakeServer({
    manifest: { ...manifest, tools, helperTools: true },
    tools: new Map(entries),
    now: () => now,
    async sleep(ms) {
      await setImmediate();
      now += Math.ceil(ms);
    },
    async invoke(_tool, event) {
      did.push('invoke');
      const { json } = JSON.parse(event).arguments ?? {};
      return { text: typeof json === 'string' ? json : '"text"' };
    },
    workflow: {
      async start({ taskId }, input) {
        did.push('start');
        const record = records.get(taskId);
        const text = textIn(JSON.parse(JSON.parse(input).arguments));
        if (record !== undefined) records.set(await finish(text, input, record, now));
      },
      stop: async () => {},
    },
  });

  async function send(request: WireRequest): Promise<WireAnswer> {
    const sent = [...joined(request.headers)].map(([name, value]) => [name, trimmed(value)]);
    const headers: Readonly<Record<string, string>> = Object.fromEntries(sent);
    const started = performance.now();
    const body = request.body?.toString('utf8') ?? '';
    const reply = await endpoint({ method: request.method, headers, body }, server);
    let text = '';
    if (typeof reply.body === 'string') text = reply.body;
    else for await (const frame of reply.body) text += String(frame);
    return { status: reply.status, headers: reply.headers, text, ms: performance.now() - started };
  }
  return { send, did, records, server };
}

function textIn(args: unknown): string {
  const { json } = (args ?? {}) as { json?: unknown };
  if (typeof json !== 'string') return JSON.stringify(args);
  try {
    JSON.parse(json);
    return json;
  } catch {
    return JSON.stringify(json);
  }
}

function form() {
  return { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
}
