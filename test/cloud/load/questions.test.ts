import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { limits } from '../../../functions/tasks/limits.ts';
import { type Headers_, legacySession, openStream, post, type SseEvent } from '../../support/clients.ts';
import { holdChunks, useCloud } from '../../support/cloud.ts';

/**
 * 1,000 questions over each kind of stream, where Lambda keeps each chunk until the next one or the end. The clock of the cloud
 * stands still but for the moves of the test, so no machine is too slow, and no later comment brings a question.
 */
const cloud = useCloud('assembly', { movableClock: true });
const url = () => `${cloud().url}/mcp`;
const YES = { action: 'accept', content: { ok: true } };
const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
beforeAll(() => void cloud().faults.use(holdChunks));

type Session = Awaited<ReturnType<typeof legacySession>>;
let nextId = 1;

const start = async (client: Session): Promise<string> =>
  (await client.request('tools/call', { name: 'ask', task: {} })).body.result.task.taskId;

/** Runs of tools wait until it opens. Resolves once each of them has asked. */
function gate() {
  const opened = Promise.withResolvers<void>();
  const run = { service: 'lambda', operation: 'Invoke', caller: 'ServerStandardRole' } as const;
  const asks = { service: 'dynamodb', operation: 'UpdateItem', caller: 'ServerStandardRole' } as const;
  const held = cloud().faults.add({ ...run, do: { run: () => opened.promise }, times: Number.POSITIVE_INFINITY });
  const asked = cloud().faults.add({ ...asks, at: 'after', do: { delayMs: 0 }, times: Number.POSITIVE_INFINITY });
  return async (questions: number) => {
    await expect.poll(() => held.hits).toBeGreaterThanOrEqual(questions);
    held.remove();
    opened.resolve();
    await expect.poll(() => asked.hits).toBeGreaterThanOrEqual(questions);
    asked.remove();
  };
}

/** A client that reads a stream. It opens it again when it ends: a resumed one by its last event id. */
function reader(headers: Headers_, body: object | undefined, resumes: boolean) {
  const begun = Promise.withResolvers<void>();
  /** The questions, each once, by their ids: when they came, by the clock of the cloud. */
  const asked = new Map<string, number>();
  let isClosed = false;
  const hear = ({ data }: SseEvent): void => {
    begun.resolve();
    const { id, method, result } = (data || {}) as { id?: string; method?: string; result?: object };
    if (method === 'elicitation/create' && id !== undefined && !asked.has(id)) asked.set(id, cloud().clock.now());
    if (result !== undefined) isClosed = true;
  };
  const read = async () => {
    let lastId: string | undefined;
    let stream = await openStream(url(), body, headers, body === undefined ? 'GET' : 'POST');
    for (;;) {
      for await (const event of stream.events) {
        if (resumes) lastId = event.id ?? lastId;
        hear(event);
      }
      if (isClosed) return;
      await sleep(100);
      stream = await openStream(url(), undefined, { ...headers, 'last-event-id': lastId }, 'GET');
    }
  };
  return {
    begun: begun.promise,
    asked,
    over: read(),
    close() {
      isClosed = true;
    },
  };
}

const answer = async ({ asked }: ReturnType<typeof reader>, headers: Headers_) => {
  for (const id of asked.keys()) await post(url(), { jsonrpc: '2.0', id, result: YES }, headers);
};

/** `WAVES=7 npx vitest run test/cloud/load/questions.test.ts` sends 1,008 questions. */
const WAVES = Number(process.env.WAVES ?? 1);
const AT_ONCE = 48;

test.each([
  ['tasks/result', async (client: Session) => ({ taskId: await start(client) })],
  ['tools/call', async () => ({ name: 'ask_optional' })],
] as const)('questions of many tasks over %s each reach their client within 2 s', async (method, paramsOf) => {
  const { clock } = cloud();
  const late: number[] = [];
  for (let wave = 0; wave < WAVES; wave++) {
    const { headers, ...client } = await legacySession(url());
    const open = gate();
    const params = await Promise.all(times(AT_ONCE, () => paramsOf({ headers, ...client })));
    const readers = params.map((params_) =>
      reader(headers, { jsonrpc: '2.0', id: `q${nextId++}`, method, params: params_ }, true),
    );
    await Promise.all(readers.map(({ begun }) => begun));
    clock.hold();
    await open(AT_ONCE);
    const askedAt = clock.now();
    clock.advance(500);
    await expect.poll(() => readers.filter(({ asked }) => asked.size > 0).length).toBe(AT_ONCE);
    late.push(...readers.flatMap(({ asked }) => [...asked.values()].map((at) => at - askedAt)));
    clock.resume();
    await Promise.all(readers.map((one) => answer(one, headers)));
    await Promise.all(readers.map(({ over }) => over));
  }
  expect(late).toHaveLength(WAVES * AT_ONCE);
  expect(Math.max(...late)).toBeLessThanOrEqual(2_000);
});

const SESSIONS = 48;
/** Waves over the same streams. The function of the endpoint ends a stream after a minute, by the clock of the machine. */
const WAVES_OF_A_STREAM = 3;

test('questions of many tasks over GET each reach their client within 2 s after they are due', async () => {
  const { clock } = cloud();
  const { grace } = limits.sessionStream;
  const late: number[] = [];
  for (let left = WAVES; left > 0; left -= WAVES_OF_A_STREAM) {
    const sessions = await Promise.all(times(SESSIONS, () => legacySession(url())));
    // The stream of a client that does not resume is held as long as a question is open.
    const readers: ReturnType<typeof reader>[] = [];
    for (let round = 1; round <= Math.min(left, WAVES_OF_A_STREAM); round++) {
      const open = gate();
      const taskIds = await Promise.all(sessions.map(start));
      clock.hold();
      await open(SESSIONS);
      await Promise.all(sessions.map((session, n) => session.request('tasks/get', { taskId: taskIds[n] })));
      clock.advance(grace);
      const dueAt = clock.now();
      if (round === 1) readers.push(...sessions.map(({ headers }) => reader(headers, undefined, false)));
      await expect.poll(() => readers.filter(({ asked }) => asked.size === round).length).toBe(SESSIONS);
      late.push(...readers.map(({ asked }) => Math.max(...asked.values()) - dueAt));
      clock.resume();
    }
    for (const one of readers) one.close();
    await Promise.all(readers.map((one, n) => answer(one, sessions[n]?.headers ?? {})));
    await Promise.all(readers.map(({ over }) => over));
  }
  expect(late).toHaveLength(WAVES * SESSIONS);
  expect(Math.max(...late)).toBeLessThanOrEqual(2_000);
});
