import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { useFaultyCloud } from './bench.ts';

const { cloud, faults, said } = useFaultyCloud();
const STREAM = { service: 'apigateway', operation: 'POST /stream' } as const;
const PAGE = { service: 'apigateway', operation: 'POST /page' } as const;

/** What a client gets to see. */
async function post(path: string, body = ''): Promise<{ status: number; text: string; cut: boolean }> {
  const response = await fetch(`${cloud().url}${path}`, { method: 'POST', body }).catch(() => undefined);
  if (!response) return { status: 0, text: '', cut: true };
  const pieces: string[] = [];
  const decoder = new TextDecoder();
  try {
    for await (const piece of response.body ?? []) pieces.push(decoder.decode(piece));
    return { status: response.status, text: pieces.join(''), cut: false };
  } catch {
    return { status: response.status, text: pieces.join(''), cut: true };
  }
}
const NOTHING = { status: 0, text: '', cut: true };

describe('a client loses its connection', () => {
  test('before the function is invoked', async () => {
    faults().add({ ...STREAM, do: 'drop' });
    expect(await post('/stream', 'a')).toEqual(NOTHING);
    expect(await post('/stream', 'b')).toEqual({ status: 200, text: 'first\nsecond\n', cut: false });
    expect([said('streaming a'), said('streaming b')]).toEqual([0, 1]);
  });

  test('when the function has begun to answer, which runs to its end', async () => {
    faults().add({ ...STREAM, at: 'after', do: 'drop' });
    expect(await post('/stream', 'c')).toEqual(NOTHING);
    await expect.poll(() => said('streamed c')).toBe(1);
  });

  test('midway', async () => {
    faults().add({ ...STREAM, at: 'midway', do: 'drop' });
    expect(await post('/stream', 'd')).toEqual({ status: 200, text: 'first\n', cut: true });
    await expect.poll(() => said('streamed d')).toBe(1);
  });

  test.each([
    ['before', 0],
    ['after', 1],
  ] as const)('of an answer that comes as a whole: %s', async (at, runs) => {
    faults().add({ ...PAGE, at, do: 'drop' });
    expect(await post('/page', `whole-${at}`)).toEqual(NOTHING);
    expect(said(`page whole-${at}`)).toBe(runs);
  });
});

describe('the worker that answers dies', () => {
  test('midway', async () => {
    const death = faults().add({ ...STREAM, at: 'midway', do: 'killWorker' });
    expect(await post('/stream', 'e')).toEqual({ status: 200, text: 'first\n', cut: true });
    expect((await death.struck).worker).toMatch(/Streamer/);
    expect(said('streamed e')).toBe(0);
  });

  test('some time after it began to answer', async () => {
    faults().add({ ...STREAM, at: 'after', do: { killAfterMs: 60 } });
    expect(await post('/stream', 'f')).toEqual({ status: 200, text: 'first\n', cut: true });
  });
});

test('API Gateway answers by itself', async () => {
  faults().add({ ...PAGE, do: { error: 'TooManyRequestsException', status: 429, message: 'Too Many Requests' } });
  expect(await post('/page', 'throttled')).toEqual({
    status: 429,
    text: '{"message":"Too Many Requests"}',
    cut: false,
  });
  faults().add({ ...STREAM, at: 'after', do: { error: 'InternalServerError', status: 500, message: 'no' } });
  expect(await post('/stream', 'g')).toEqual({ status: 500, text: '{"message":"no"}', cut: false });
  expect(said('page throttled')).toBe(0);
});

test('Lambda keeps a chunk of a stream until the next one, or the end', async () => {
  faults().add({ ...STREAM, do: 'holdChunks' });
  const response = await fetch(`${cloud().url}/stream`, { method: 'POST', body: 'h' });
  const { value } = (await response.body?.getReader().read()) ?? {};
  expect([said('streamed h'), new TextDecoder().decode(value)]).toEqual([1, 'first\nsecond\n']);
});

test('an answer without a body ends late, and no other', async () => {
  faults().add({ ...STREAM, do: { emptyEndsAfterMs: 60_000 }, times: 2 });
  expect(await post('/stream', 'i')).toEqual({ status: 200, text: 'first\nsecond\n', cut: false });
  const client = new AbortController();
  const request = { method: 'POST', body: 'empty', signal: client.signal };
  const response = await fetch(`${cloud().url}/stream`, request);
  const ended = response.text().then(
    () => 'ended',
    () => 'aborted',
  );
  await expect.poll(() => said('streamed empty')).toBe(1);
  expect(await Promise.race([ended, sleep(200, 'open')])).toBe('open');
  client.abort();
  expect(await ended).toBe('aborted');
});

test.each([
  { ...STREAM, at: 'after', do: 'holdChunks' },
  { service: 'lambda', do: { emptyEndsAfterMs: 1 } },
] as const)('a fault of a stream is refused where it has no meaning: %j', (spec) => {
  expect(() => faults().add(spec)).toThrow(/is of apigateway, and before/);
});

test('a fault sees the request', async () => {
  const wait = faults().add({
    ...PAGE,
    when: ({ input, caller }) => caller === 'client' && input.body === 'seen',
    do: { delayMs: 50 },
  });
  await post('/page', 'unseen');
  const begin = performance.now();
  expect(await post('/page', 'seen')).toMatchObject({ status: 200, text: 'page' });
  expect([wait.hits, performance.now() - begin > 48]).toEqual([1, true]);
});
