import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { resultFromTaskOutcome, type SerializedTaskReference } from '@modelcontextprotocol/ext-tasks/client';
import { describe, expect, test } from 'vitest';
import { useCloud } from '../../support/cloud.ts';
import { openTaskSession } from '../../support/task-session.ts';

const cloud = useCloud();
const url = () => `${cloud().url}/mcp`;
const PIN = { versionNegotiation: { mode: { pin: '2026-07-28' } } } as const;
const info = { name: 'test', version: '1' };

async function connected(url: string, client = new Client(info, PIN)): Promise<Client> {
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  expect(client.getProtocolEra()).toBe('modern');
  return client;
}

/** A client whose user answers every form with `content`. */
function asked(content: Record<string, boolean>) {
  const client = new Client(info, { ...PIN, capabilities: { elicitation: { form: {} } } });
  const questions: string[] = [];
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    questions.push(params.message);
    return { action: 'accept', content };
  });
  return { client, questions };
}

describe.concurrent('the official client 2.x, pinned to 2026-07-28', () => {
  test.each(['ask_optional', 'direct_ask'])(
    '%s: it answers the question and calls again by itself (D-20, D-21)',
    async (name) => {
      const { client, questions } = asked({ ok: true });
      await connected(url(), client);
      const result = await client.callTool({ name, arguments: { a: 1 } });
      expect(result.structuredContent).toMatchObject({ answer: { action: 'accept', content: { ok: true } } });
      expect(questions).toEqual(['Really?']);
      await client.close();
    },
  );

  test('knows no tasks: a tool of three seconds is answered inline, with its progress (A-22, F-10)', async () => {
    const client = await connected(url());
    const reported: number[] = [];
    const onprogress = ({ progress }: { progress: number }) => void reported.push(progress);
    const [slept, promised, done] = await Promise.all([
      client.callTool({ name: 'sleep', arguments: { ms: 3_000 } }),
      client.callTool({ name: 'slow_promise' }),
      client.callTool({ name: 'steps', arguments: { steps: 2 } }, { onprogress }),
    ]);
    expect(slept.content).toEqual([{ type: 'text', text: 'slept 3000 ms' }]);
    expect(promised.structuredContent).toEqual({ n: 1 });
    expect(done.content).toEqual([{ type: 'text', text: 'done' }]);
    expect(reported.length).toBeGreaterThan(0);
    expect(reported).toEqual([...new Set(reported)].sort());
    await client.close();
  });
});

describe.concurrent('ext-tasks in 2026-07-28', () => {
  const never = () => ({ action: 'decline' }) as const;

  test('runs a task to its end; what fails throws; what was cancelled says so (E-12, E-13, E-21)', async () => {
    const { session, close } = await openTaskSession(url(), never);
    const [echo, thrown, long] = await Promise.all([
      session.callTool('echo', { a: 1 }),
      session.callTool('throws'),
      session.callTool('sleep', { ms: 20_000 }),
    ]);
    expect([echo.kind, thrown.kind, long.kind]).toEqual(['task', 'task', 'task']);
    await long.cancel();
    const outcomes = await Promise.all([echo, thrown, long].map(async (run) => (await run.settle()).outcome));
    expect(outcomes.map(({ status }) => status)).toEqual(['completed', 'failed', 'cancelled']);
    const [done, failed] = outcomes;
    expect(done && resultFromTaskOutcome(done)).toMatchObject({ structuredContent: { a: 1 } });
    expect(failed).toMatchObject({ error: { code: -32603 } });
    await close();
  });

  test('answers questions of one task, round by round (E-17, E-20)', async () => {
    const messages: unknown[] = [];
    const { session, close } = await openTaskSession(url(), ({ params }) => {
      messages.push(params.message);
      return { action: 'accept', content: { ok: messages.length > 1 } };
    });
    const { outcome } = await (await session.callTool('ask_twice')).settle();
    expect(resultFromTaskOutcome(outcome)).toMatchObject({
      structuredContent: { last: { action: 'accept', content: { ok: true } } },
    });
    expect(messages).toEqual(['Once?', 'Twice?']);
    await close();
  });

  test('answers the question that comes before the task (D-20, E-10)', async () => {
    const { session, close } = await openTaskSession(url(), () => ({ action: 'accept', content: { name: 'Ada' } }));
    const execution = await session.callTool('ask_first');
    expect(execution.kind).toBe('task');
    const { outcome } = await execution.settle();
    expect(resultFromTaskOutcome(outcome)).toMatchObject({
      structuredContent: { who: { content: { name: 'Ada' } }, round: 1 },
    });
    await close();
  });

  test('continues a task after a restart of the client', async () => {
    const first = await openTaskSession(url(), never);
    const references: SerializedTaskReference[] = [];
    for (const [name, args] of [
      ['sleep', { ms: 1_500 }],
      ['ask', {}],
      ['echo', { a: 1 }],
    ] as const) {
      const execution = await first.session.callTool(name, args);
      if (execution.kind !== 'task') throw new Error(`${name} was no task`);
      references.push(JSON.parse(JSON.stringify(execution.serializeReference())));
      await execution.detach();
      // While the client waits for it, closing the session would cancel the task.
      await execution.result();
    }
    await first.close();

    const second = await openTaskSession(url(), () => ({ action: 'accept', content: { ok: true } }));
    const outcomes = await Promise.all(
      references.map(async (reference) => (await (await second.session.resumeTask(reference)).settle()).outcome),
    );
    expect(outcomes.map(resultFromTaskOutcome)).toMatchObject([
      { content: [{ text: 'slept 1500 ms' }] },
      { structuredContent: { round: 2, answer: { action: 'accept' } } },
      { structuredContent: { a: 1 } },
    ]);
    await second.close();
  });
});
