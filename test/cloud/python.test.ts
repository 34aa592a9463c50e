import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cloud, startCloud } from '../../local/cloud.ts';
import { synthApp } from '../../local/testing.ts';
import { modernRequest, poll } from '../support/clients.ts';

/** Not every machine has Python with boto3. */
const hasPython = spawnSync('python3', ['-c', 'import boto3']).status === 0;
const assembly = mkdtempSync(join(tmpdir(), 'mcp-python-'));
let cloud: Cloud;

beforeAll(async () => {
  if (!hasPython) return;
  await synthApp('test/support/apps/python-app.ts', assembly);
  cloud = await startCloud({ assembly, recordCalls: true, schedules: false });
});
afterAll(async () => {
  await cloud?.stop();
  rmSync(assembly, { recursive: true, force: true });
});

const asking = {
  elicitation: { form: {} },
  extensions: { 'io.modelcontextprotocol/tasks': {} },
};
async function started(limit: number | undefined, name = 'count_primes') {
  const params = { name, arguments: limit === undefined ? {} : { limit } };
  const { body } = await modernRequest(`${cloud.url}/mcp`, 'tools/call', params, { capabilities: asking });
  return body.result.taskId as string;
}
const answer = (taskId: string, go: boolean) =>
  modernRequest(`${cloud.url}/mcp`, 'tasks/update', {
    taskId,
    inputResponses: { 'r1.sure': { action: 'accept', content: { go } } },
  });

test.skipIf(!hasPython)('a tool in Python asks, shows its progress and ends with its result (E-27)', async () => {
  const taskId = await started(60_000);
  const asked = await poll(`${cloud.url}/mcp`, taskId, ({ status }) => status !== 'working');
  expect(asked.inputRequests['r1.sure'].params.message).toBe('Count primes below 60000? It takes a while.');
  await answer(taskId, true);
  const messages = new Set<string>();
  const done = await poll(`${cloud.url}/mcp`, taskId, (task) => {
    if (task.status === 'working' && task.statusMessage) messages.add(task.statusMessage);
    return task.status !== 'working' && task.status !== 'input_required';
  });
  expect(done).toMatchObject({ status: 'completed', result: { content: [{ text: '6057 primes below 60000' }] } });
  expect([...messages].join()).toMatch(/primes below \d+/);
  const calls = cloud.calls.since().filter(({ input }) => JSON.stringify(input).includes(taskId));
  const steps = calls.filter(({ input }) => JSON.stringify(input).includes(`${taskId}#step#`));
  expect(steps.map(({ operation }) => operation)).toEqual(Array(6).fill('UpdateItem'));
  expect(calls.filter(({ operation }) => operation === 'Query')).toHaveLength(1);
});

test.skipIf(!hasPython)('a declined question ends the tool with its text', async () => {
  const taskId = await started(30_000);
  await poll(`${cloud.url}/mcp`, taskId, ({ status }) => status === 'input_required');
  await answer(taskId, false);
  const done = await poll(`${cloud.url}/mcp`, taskId, ({ status }) => status === 'completed');
  expect(done.result.content[0].text).toBe('Nothing was counted.');
});

test.skipIf(!hasPython)(
  'a tool in Python waits for a person and another system, and works past one run',
  async () => {
    const taskId = await started(undefined, 'buys');
    const url = `${cloud.url}/mcp`;
    const { inputRequests } = await poll(url, taskId, ({ status }) => status === 'input_required');
    const [link, hook] = inputRequests['r1.urls'].params.message.split(' ');
    const send = async (to: string, body: object) => {
      const headers = { 'content-type': 'application/json' };
      return (await fetch(to, { method: 'POST', headers, body: JSON.stringify(body) })).status;
    };
    expect([await send(hook, {}), await send(hook, { n: 1 })]).toEqual([422, 200]);
    const inputResponses = { 'r1.urls': { action: 'accept', content: {} } };
    await modernRequest(url, 'tasks/update', { taskId, inputResponses });
    await poll(url, taskId, ({ statusMessage }) => /^Waiting for approval until /.test(statusMessage));
    expect(await send(link, { action: 'accept', content: { ok: true }, by: 'Ann' })).toBe(200);
    const { result } = await poll(url, taskId, ({ status }) => status === 'completed');
    const { answer: answered, payment, parts } = result.structuredContent;
    const at = expect.any(Number);
    expect(answered).toEqual({ action: 'accept', content: { ok: true }, by: 'Ann', at });
    expect(payment).toEqual({ body: { n: 1 }, at });
    expect(parts.map(([item]: number[]) => item)).toEqual(Array.from({ length: 12 }, (_, n) => n));
    // Items of two runs.
    expect(new Set(parts.map(([, round]: number[]) => round)).size).toBeGreaterThan(1);
  },
  60_000,
);

test.skipIf(!hasPython)('a tool in Python stores files, and clients read them by their links', async () => {
  // The answers that say so may be lost.
  const lost = ['PutObject', 'CompleteMultipartUpload'].map((operation) =>
    cloud.faults.add({ service: 's3', operation, at: 'after', do: 'drop' }),
  );
  // S3 still works on the attempt before.
  const conflict = { error: 'ConditionalRequestConflict', status: 409 };
  lost.push(cloud.faults.add({ service: 's3', operation: 'PutObject', at: 'before', do: conflict }));
  const { result } = await poll(
    `${cloud.url}/mcp`,
    await started(undefined, 'films'),
    ({ status }) => status !== 'working',
  );
  await Promise.all(lost.map(({ struck }) => struck));
  const [{ uri, ...film }, refused] = result.content;
  const bytes = Buffer.from(await (await fetch(uri)).arrayBuffer());
  expect(film).toEqual({
    ...{ type: 'resource_link', name: 'film.bin', mimeType: 'application/octet-stream', size: 12_000_000 },
    _meta: { 'mcp-task-server/sha256': createHash('sha256').update(bytes).digest('hex') },
  });
  expect(bytes.toString('latin1', 11_000_000, 11_000_008)).toBe('     11\n');
  expect(refused.text).toMatch(/^File 'a\/b': a name has/);
});
