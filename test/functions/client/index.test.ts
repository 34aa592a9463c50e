import { setTimeout as sleep } from 'node:timers/promises';
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, test } from 'vitest';
import { callTask, type OfficialClient, type Progress, resumeTask } from '../../../functions/client/index.ts';
import { modernRequest, poll } from '../../support/clients.ts';
import { useCloud } from '../../support/cloud.ts';

const cloud = useCloud();
const url = () => `${cloud().url}/mcp`;
const info = { name: 'test', version: '1' };
const capabilities = { elicitation: {} };

const connect = {
  async 'client 2.x, 2026-07-28'() {
    const client = new Client2(info, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new Transport2(new URL(url())));
    return client;
  },
  async 'client 2.x, 2025-11-25'() {
    const client = new Client2(info, { capabilities, versionNegotiation: { mode: 'legacy' } });
    await client.connect(new Transport2(new URL(url())));
    return client;
  },
  async 'sdk 1.x, 2025-11-25'() {
    const client = new Client1(info, { capabilities });
    // The SDK's own transport types do not pass exactOptionalPropertyTypes.
    await client.connect(new Transport1(new URL(url())) as Parameters<typeof client.connect>[0]);
    return client;
  },
} satisfies Record<string, () => Promise<OfficialClient>>;

const statusOf = async (taskId: string) =>
  (await modernRequest(url(), 'tasks/get', { taskId })).body.result.status as string;

describe.each(Object.entries(connect))('%s', (_name, open) => {
  test('gets the result of a task, with its id and its progress', async () => {
    const client = await open();
    const ids: string[] = [];
    const heard: Progress[] = [];
    const result = await callTask(
      client,
      'steps',
      { steps: 3 },
      {
        onTask: (taskId) => void ids.push(taskId),
        onProgress: (progress) => void heard.push(progress),
      },
    );
    expect(result).toMatchObject({ content: [{ type: 'text', text: 'done' }] });
    expect(ids).toHaveLength(1);
    expect(heard.map(({ message }) => message)).toContain('step 2');
    expect(heard.at(-1)).toMatchObject({ taskId: ids[0], status: 'completed' });
    const lines = heard.map(({ status, message }) => `${status} ${message}`);
    expect(lines).toEqual([...new Set(lines)]);
    await client.close();
  });

  test('gets the result of a tool that never runs as a task (E-05)', async () => {
    const client = await open();
    const result = await callTask(client, 'direct_echo', { a: 1 }, { onTask: () => expect.unreachable() });
    expect(result.structuredContent).toMatchObject({ args: { a: 1 } });
    await client.close();
  });

  test('answers a form in each of two rounds, once', async () => {
    const client = await open();
    const asked: string[] = [];
    const result = await callTask(
      client,
      'ask_twice',
      {},
      {
        async onQuestion({ message, requestedSchema }) {
          asked.push(`${message} ${Object.keys(requestedSchema?.properties ?? {})}`);
          await sleep(1_500);
          return { action: 'accept', content: { ok: true } };
        },
      },
    );
    expect(asked).toEqual(['Once? ok', 'Twice? ok']);
    expect(result.structuredContent).toEqual({ last: { action: 'accept', content: { ok: true } } });
    await client.close();
  });

  test('answers the questions of two tasks at a time, each by its own call', async () => {
    const client = await open();
    const ask = (ok: boolean) =>
      callTask(client, 'ask', {}, { onQuestion: () => ({ action: 'accept', content: { ok } }) });
    const results = await Promise.all([ask(true), ask(false)]);
    expect(results.map(({ structuredContent }) => structuredContent)).toMatchObject([
      { answer: { content: { ok: true } } },
      { answer: { content: { ok: false } } },
    ]);
    await client.close();
  });

  test('a question without onQuestion, or whose handler throws, stays open; the id resumes it', async () => {
    const first = await open();
    let taskId = '';
    const onTask = (id: string) => {
      taskId = id;
    };
    const onQuestion = () => {
      throw new Error('no terminal');
    };
    await expect(callTask(first, 'ask', {}, { onTask, onQuestion })).rejects.toThrow('no terminal');
    await first.close();

    const second = await open();
    await expect(resumeTask(second, taskId)).rejects.toThrow('pass onQuestion');
    expect(await statusOf(taskId)).toBe('input_required');
    await second.close();

    const third = await open();
    const result = await resumeTask(third, taskId, { onQuestion: () => ({ action: 'decline' }) });
    expect(result.structuredContent).toMatchObject({ answer: { action: 'decline' }, round: 2 });
    await third.close();
  });

  test('closing the client leaves the task alone; it is resumed to its end, and again afterwards', async () => {
    const first = await open();
    const { promise, resolve } = Promise.withResolvers<string>();
    const call = callTask(first, 'steps', { steps: 2 }, { onTask: resolve });
    const lost = expect(call).rejects.toThrow();
    const taskId = await promise;
    await sleep(200);
    await first.close();

    const second = await open();
    expect(await resumeTask(second, taskId)).toMatchObject({ content: [{ text: 'done' }] });
    expect(await resumeTask(second, taskId)).toMatchObject({ content: [{ text: 'done' }] });
    expect((await poll(url(), taskId, () => true)).status).toBe('completed');
    await second.close();
    await lost;
  });
});
