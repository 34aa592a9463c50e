import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type Cloud, startCloud } from '../../../../local/cloud.ts';
import { temporaryDir } from '../../../../local/test/fixture.ts';
import { changeAssembly } from '../../../support/change-assembly.ts';
import { legacySession, modernMessage, modernRequest, openStream, runTask } from '../../../support/clients.ts';
import { useAssembly } from '../../../support/cloud.ts';
import { fuzzCloud } from '../fuzz-cloud.ts';
import { randomOf, testSeed } from '../generate/random.ts';
import { problemsOf, type WireAnswer } from '../judge/judge.ts';
import { overHttp } from '../over-http.ts';
import { slowCallsOf } from './calls.ts';
import { slowSchemas } from './kind.ts';

const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 150);
const folder = temporaryDir();
const assembly = useAssembly('test/support/apps/slow-schema-app.ts');
const started: Cloud[] = [];
async function start(from = assembly): Promise<Cloud> {
  const cloud = await startCloud({ assembly: from, recordCalls: true, schedules: false, maxWorkersPerFunction: 2 });
  started.push(cloud);
  // These calls make no task: all stored tasks must come from fuzzing.
  await modernRequest(`${cloud.url}/mcp`, 'tools/call', { name: 'direct_echo', arguments: {} });
  return cloud;
}
afterAll(async () => {
  for (const cloud of started) await cloud.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A call whose answer is the request's, and how much CPU time it took. */
const called = (cloud: Cloud) => slowSchemas.through?.(cloud, overHttp(cloud));
function posted(call: { name: string; arguments: object }) {
  const { body, headers } = modernMessage('tools/call', call);
  const sent = Object.entries({ 'content-type': 'application/json', accept: 'application/json', ...headers });
  const body_ = Buffer.from(JSON.stringify(body));
  return { method: 'POST', headers: sent.flatMap(([k, v]): [string, string][] => (v ? [[k, v]] : [])), body: body_ };
}

test(`${REQUESTS} fuzzed requests to hostile schemas, seed ${testSeed}: all below 2 s of CPU (A-13, A-14)`, async () => {
  const { problems, stored } = await fuzzCloud(await start(), testSeed, REQUESTS, slowSchemas);
  expect(problems.join('\n')).toBe('');
  expect(stored).toBeGreaterThan(0);
}, 600_000);

test('each kind of slow schema occurs: arguments refused, or the result an error (A-14, A-19)', async () => {
  const cloud = started[0] ?? (await start());
  const target = called(cloud);
  for (const call of slowCallsOf(randomOf(testSeed, 0))) {
    if (call.name.startsWith('promises')) {
      const task = await runTask(`${cloud.url}/mcp`, call.name, call.arguments);
      expect(task.result.content[0].text, call.name).toContain('does not fit its outputSchema');
      continue;
    }
    const answer = await target?.send(posted(call));
    // A fast machine checks this kind in time.
    const refused =
      call.name === 'choices' ? /take too long to check|Invalid arguments for tool/ : /take too long to check/;
    expect(answer?.text, call.name).toMatch(refused);
    expect(answer?.ms, call.name).toBeLessThan(slowSchemas.bound(posted(call)));
  }
});

test('a list of 50 slow results and a stream of 50 tasks take at most 2 s of CPU (A-19)', async () => {
  const cloud = started[0] ?? (await start());
  const url = `${cloud.url}/mcp`;
  const session = await legacySession(url);
  const call = { name: 'promises_slug', arguments: { slug: `${'a'.repeat(50)}!` } };
  const taskIds: string[] = [];
  for (let i = 0; i < 50; i++) {
    await session.request('tools/call', { ...call, task: {} });
    taskIds.push((await modernRequest(url, 'tools/call', call)).body.result.taskId);
  }
  const running = () => cloud.stepFunctions.executions().some(({ status }) => status === 'RUNNING');
  await expect.poll(running, { timeout: 30_000 }).toBe(false);
  const cpuOf = async (what: () => Promise<number>) => {
    const before = process.cpuUsage();
    const count = await what();
    const { user, system } = process.cpuUsage(before);
    return { count, inTime: (user + system) / 1_000 < 2_000 };
  };
  const list = async () => (await session.request('tasks/list')).body.result.tasks.length;
  expect(await cpuOf(list)).toEqual({ count: 50, inTime: true });
  const { body, headers } = modernMessage('subscriptions/listen', { notifications: { taskIds } });
  const listen = async () => {
    let count = 0;
    for await (const { data } of (await openStream(url, body, headers)).events)
      if ((data as { method?: string }).method === 'notifications/tasks') count++;
    return count;
  };
  expect(await cpuOf(listen)).toEqual({ count: 50, inTime: true });
});

test('a validator without a bound is noticed', async () => {
  const broken = join(folder, 'broken');
  cpSync(assembly, broken, { recursive: true });
  changeAssembly(
    broken,
    (path) => path.endsWith('.js'),
    (text) => text.replace(/(runInThisContext\(\{timeout:)\w+(\}\))/, '$1600000$2'),
  );
  const target = called(await start(broken));
  let problems: readonly string[] = [];
  // Each letter doubles the work, which ends soon after it takes longer than a request may.
  for (let letters = 24; letters <= 36 && problems.length === 0; letters++) {
    const request = posted({ name: 'slug', arguments: { slug: `${'a'.repeat(letters)}!` } });
    const answer = await target?.send(request);
    problems = await problemsOf(request, answer as WireAnswer, { secrets: [], bound: slowSchemas.bound });
  }
  expect(problems.join()).toMatch(/took \d+ ms/);
});
