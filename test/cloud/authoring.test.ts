import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { modernRequest, runTask } from '../support/clients.ts';
import { useCloud } from '../support/cloud.ts';

const cloud = useCloud();
const url = () => `${cloud().url}/mcp`;
const folder = mkdtempSync(join(tmpdir(), 'mcp-authoring-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = (name: string) => join(folder, name);
const lines = (name: string) => readFileSync(file(name), 'utf8').trimEnd().split('\n');

describe('a function that crashes', () => {
  test('is run again if its tool may be repeated, and a finished step is not done twice', async () => {
    const task = await runTask(url(), 'charge_then_crash', { file: file('twice'), crashes: 2 });
    expect(task).toMatchObject({ status: 'completed', result: { structuredContent: { attempt: 2 } } });
    expect(lines('twice')).toEqual(['charged']);
  });

  test('is given up after two retries, with the reason', async () => {
    const task = await runTask(url(), 'charge_then_crash', { file: file('thrice'), crashes: 3 });
    expect(task).toMatchObject({ status: 'failed', error: { data: { reason: 'Runtime.ExitError' } } });
    expect(lines('thrice')).toEqual(['charged']);
  });

  test('is not run again without an idempotent hint: side effects happen at most once', async () => {
    const task = await runTask(url(), 'charge_once', { file: file('once'), crashes: 1 });
    expect(task).toMatchObject({ status: 'failed', error: { data: { reason: 'Runtime.ExitError' } } });
    expect(lines('once')).toEqual(['charged']);
  });
});

test('cancel stops a tool without reports within a heartbeat; nothing is written after that', async () => {
  const { body } = await modernRequest(url(), 'tools/call', { name: 'spin', arguments: { file: file('spin') } });
  const { taskId } = body.result;
  const works = () =>
    cloud()
      .lambda.workers()
      .some(({ functionName, busy }) => busy > 0 && /Tools/.test(functionName));
  await vi.waitFor(() => expect(works()).toBe(true), { timeout: 20_000, interval: 20 });
  await sleep(300);
  await modernRequest(url(), 'tasks/cancel', { taskId });
  const mark = cloud().calls.mark();
  await vi.waitFor(() => expect(lines('spin')).toHaveLength(1), { timeout: 10_000, interval: 50 });
  await sleep(200);
  expect((await modernRequest(url(), 'tasks/get', { taskId })).body.result.status).toBe('cancelled');
  const writes = cloud()
    .calls.since(mark)
    .filter(({ operation }) => /Put|Update|Delete/.test(operation));
  expect(writes).toEqual([]);
});
