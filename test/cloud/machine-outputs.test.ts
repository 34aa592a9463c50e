import { expect, test } from 'vitest';
import { randomOf, testSeed as seed } from '../proofs/fuzz/generate/random.ts';
import { fuzzedResult } from '../proofs/fuzz/generate/tool-results.ts';
import { internalsIn } from '../proofs/fuzz/judge/judge.ts';
import { legacySession, modernRequest, poll, runTask } from '../support/clients.ts';
import { useAssembly, useCloud } from '../support/cloud.ts';

const assembly = useAssembly('test/support/apps/machine-app.ts');
const cloud = useCloud('assembly', { assembly, schedules: true });
const url = () => `${cloud().url}/mcp`;
const OUTPUTS = Number(process.env.FUZZ_REQUESTS ?? 25);
const MESSAGES =
  /^(The tool failed|The tool's result is too large|The tool asked for input in a form that is not valid|The tool asked for input with too much state|The tool needs input of a kind that the client did not declare)/;
const TOO_LARGE = /^(arguments|A body)/;

function judge(shown: unknown, json: string): void {
  const answer = { text: JSON.stringify(shown), headers: {} };
  expect(internalsIn(answer, [...cloud().tables, ...cloud().buckets]), json.slice(0, 2_000)).toEqual([]);
}

/** The task's end in both revisions, which their schemas judge on the way; undefined if it asks. */
async function run(json: string) {
  const call = { name: 'returns', arguments: { json } };
  const { body } = await modernRequest(url(), 'tools/call', call);
  if (body.error !== undefined) return expect(body.error.message).toMatch(TOO_LARGE);
  const modern = await poll(url(), body.result.taskId, ({ status }) => status !== 'working');
  judge(modern, json);
  // Its result claims to be in S3, and is not: only a wrapped function may refer to S3.
  if (modern.status === undefined && json.includes('resultRef')) {
    return expect(modern.error.data.reason).toBe('ResultUnavailable');
  }
  expect(['completed', 'failed', 'input_required'], json.slice(0, 2_000)).toContain(modern.status);
  if (modern.status === 'failed') {
    expect(modern.error, json.slice(0, 2_000)).toMatchObject({
      code: -32603,
      message: expect.stringMatching(MESSAGES),
      data: { reason: expect.stringMatching(/^[\w.]+$/) },
    });
  }
  const session = await legacySession(url());
  const { taskId } = (await session.request('tools/call', { ...call, task: {} })).body.result.task;
  const settled = await poll(url(), taskId, ({ status }) => status !== 'working');
  expect(settled.status).toBe(modern.status);
  judge((await session.request('tasks/get', { taskId })).body, json);
  if (settled.status === 'input_required') await session.request('tasks/cancel', { taskId });
  judge((await session.request('tasks/result', { taskId })).body, json);
}

test(`${OUTPUTS} wrong outputs of a machine, seed ${seed}: each gets its error, nothing leaks (A-15, A-17)`, async () => {
  const left = Array.from({ length: OUTPUTS }, (_, i) => fuzzedResult(randomOf(seed, i)));
  while (left.length > 0) await Promise.all(left.splice(0, 5).map(run));
  expect((await runTask(url(), 'echo', { a: 1 })).result.structuredContent).toEqual({ a: 1 });
}, 600_000);
