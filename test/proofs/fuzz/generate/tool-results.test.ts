import { beforeEach, expect, test, vi } from 'vitest';
import { type Answer, modernMessage } from '../../../support/clients.ts';
import { inProcess } from '../in-process.ts';
import { problemsOf, type WireAnswer } from '../judge/judge.ts';
import type { WireRequest } from './mutate.ts';
import { randomOf, testSeed } from './random.ts';
import { fuzzedResult } from './tool-results.ts';

const seed = testSeed;
const RESULTS = Number(process.env.FUZZ_REQUESTS ?? 400);
const rules = { secrets: [], bound: () => 5_000 };
const ALL = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const LEGACY = { 'mcp-protocol-version': '2025-11-25' };
type Ask = (request: WireRequest) => Promise<Answer['body']>;

// The log of a tool's mistakes is not wanted here.
beforeEach(() => {
  vi.spyOn(console, 'error').mockReturnValue();
});

test(`${RESULTS} results, seed ${seed}: a client gets only what its revision publishes (A-17, A-19, D-21)`, async () => {
  const target = inProcess();
  const { headers } = await target.send(posted(initialize, {}));
  const session = headers['mcp-session-id'] ?? '';
  for (let i = 0; i < RESULTS; i++) {
    const json = fuzzedResult(randomOf(seed, i));
    await allWays(json, session, async (request) => {
      const answer = await target.send(request);
      const problems = await problemsOf(request, answer, rules);
      const what = `result ${i} of seed ${seed} (FUZZ_SEED=${seed}): ${json.slice(0, 2_000)}\n${request.body}`;
      expect(problems, `${what.slice(0, 4_000)}\n-> ${answer.text.slice(0, 1_000)}`).toEqual([]);
      return messageIn(answer);
    });
    target.records.clear();
  }
});

/** Every way in which a client may see a result. */
async function allWays(json: string, session: string, ask: Ask): Promise<void> {
  const modern = (method: string, params: Record<string, unknown>, capabilities: object) => {
    const { body, headers } = modernMessage(method, params, { capabilities });
    return ask(posted(body, headers));
  };
  const legacy = (method: string, params: object) =>
    ask(posted({ jsonrpc: '2.0', id: 1, method, params }, { ...LEGACY, 'mcp-session-id': session }));

  for (const name of ['direct', 'promising']) {
    await modern('tools/call', { name, arguments: { json } }, ALL);
    await legacy('tools/call', { name, arguments: { json } });
  }
  const made = await modern('tools/call', { name: 'optional', arguments: { json } }, { ...ALL, ...TASKS });
  // Larger than arguments may be.
  if (made.error !== undefined) return;
  const { taskId } = made.result;
  await modern('tasks/get', { taskId }, TASKS);
  await modern('subscriptions/listen', { notifications: { taskIds: [taskId] } }, TASKS);
  await modern('tools/call', { name: 'get_task_result', arguments: { taskId, waitSeconds: 0 } }, {});
  const older = await legacy('tools/call', { name: 'optional', arguments: { json }, task: {} });
  await legacy('tasks/get', { taskId: older.result.task.taskId });
  await legacy('tasks/result', { taskId: older.result.task.taskId });
  await legacy('tasks/list', {});
}

const initialize = {
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: '2025-11-25', capabilities: ALL, clientInfo: { name: 'fuzz', version: '1' } },
};

function posted(body: object, headers: Readonly<Record<string, string | undefined>>): WireRequest {
  const all = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers };
  const sent = Object.entries(all).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  );
  return { method: 'POST', headers: sent, body: Buffer.from(JSON.stringify(body)) };
}

/** The answer, or the last message of a stream that ended before it. */
function messageIn({ text }: WireAnswer): Answer['body'] {
  return JSON.parse(text.startsWith('{') ? text : `{${text.split('data: {').at(-1)?.split('\n')[0]}`);
}
