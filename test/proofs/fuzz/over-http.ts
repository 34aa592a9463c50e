import { Agent, request as httpRequest } from 'node:http';
import type { Cloud } from '../../../local/cloud.ts';
import type { WireRequest } from './generate/mutate.ts';
import type { Random } from './generate/random.ts';
import type { Calls } from './generate/requests.ts';
import { fuzzedResult } from './generate/tool-results.ts';
import type { WireAnswer } from './judge/judge.ts';
import { isVerdict } from './judge/verdict.ts';

/** The tools of `test/support/apps/app.ts` that only answer, and arguments for them. */
export const calls: Calls = (random: Random) => {
  if (random.chance(0.25)) return { name: 'returns', arguments: { json: fuzzedResult(random) } };
  const [name, args] = random.pick(CALLS);
  return { name, ...(args && { arguments: args }) };
};

const CALLS: readonly (readonly [string, object?])[] = [
  ...(['echo', 'direct_echo'] as const).map((name) => [name, { a: [1, 'x', { b: null }] }] as const),
  ['with_header', { region: 'eu' }],
  ['with_header'],
  ['sleep', { ms: 20 }],
  ['big', { bytes: 40_000 }],
  ...['throws', 'direct_throws', 'broken_promise', 'counter'].map((name) => [name] as const),
  ...['ask', 'ask_two', 'ask_first', 'ask_optional', 'ask_url', 'ask_model', 'direct_ask'].map(
    (name) => [name] as const,
  ),
  ['get_task_result', { taskId: '0'.repeat(36), waitSeconds: 0 }],
  ['cancel_task', { taskId: '0'.repeat(36) }],
];

/** The calls that change a task, or run something for a client. */
const DEEDS = ['PutItem', 'UpdateItem', 'StartExecution', 'Invoke'];

const READS = ['GetItem', 'BatchGetItem', 'Query'];

/** The endpoint in an embedded cloud that records its calls, through HTTP. */
export function overHttp(cloud: Cloud) {
  const agent = new Agent({ keepAlive: true });
  const created = new Set<string>();
  let mark = cloud.calls.mark();
  let deeds = 0;
  let units = 0;
  function readCalls(): void {
    for (const { caller, operation, input, status, consumed } of cloud.calls.since(mark)) {
      if (caller.startsWith('ServerEndpoint') && READS.includes(operation)) units += consumed?.table ?? 0;
      if (!caller.startsWith('ServerEndpoint') || !DEEDS.includes(operation) || isVerdict(operation, input)) continue;
      deeds++;
      // Beside the tasks lie notes of sessions and owners, under names of their own.
      if (operation === 'PutItem' && status === 200 && !taskIdOf(input).startsWith('#')) created.add(taskIdOf(input));
    }
    mark = cloud.calls.mark();
  }
  return {
    send: (request: WireRequest) => send(new URL(`${cloud.url}/mcp`), request, agent),
    deeds() {
      readCalls();
      return deeds;
    },
    units() {
      readCalls();
      const read = units;
      units = 0;
      return read;
    },
    /** The ids of all tasks that the endpoint stored. */
    created() {
      readCalls();
      return created;
    },
    close: () => agent.destroy(),
  };
}

const taskIdOf = (input: unknown): string => (input as { Item: { taskId: { S: string } } }).Item.taskId.S;

function send(url: URL, { method, headers, body }: WireRequest, agent: Agent): Promise<WireAnswer> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(url, { method, agent, headers: grouped(headers, body) }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () =>
        resolve({
          status: incoming.statusCode ?? 0,
          headers: Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)])),
          text: Buffer.concat(chunks).toString(),
          ms: performance.now() - started,
        }),
      );
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Headers in the form of Node: a name that comes twice has both values. */
function grouped(headers: WireRequest['headers'], body: Buffer | undefined): Record<string, string[]> {
  const all: Record<string, string[]> = Object.create(null);
  for (const [name, value] of headers) all[name.toLowerCase()] = [...(all[name.toLowerCase()] ?? []), value];
  if (body !== undefined) all['content-length'] = [String(body.length)];
  return all;
}
